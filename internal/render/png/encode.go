package png

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/klauspost/compress/zlib"
)

// encode writes the canvas: with a palette where 256 colours suffice, else in true
// colour. The fastest compression is used; rows that repeat the one above cost nothing.
func encode(w io.Writer, c *canvas, texts [][2]string) error {
	e := &encoder{w: w}
	e.write([]byte("\x89PNG\r\n\x1a\n"))
	colours := indexOf(c)
	header := binary.BigEndian.AppendUint32(nil, uint32(c.width))
	header = binary.BigEndian.AppendUint32(header, uint32(c.height))
	kind := byte(2)
	if colours != nil {
		kind = 3
	}
	e.chunk("IHDR", append(header, 8, kind, 0, 0, 0))
	if c.dots > 0 {
		metre := uint32(math.Round(float64(c.dots) / 0.0254))
		e.chunk("pHYs", append(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, metre), metre), 1))
	}
	for _, t := range texts {
		if t[1] != "" {
			e.text(t[0], t[1])
		}
	}
	if colours != nil {
		var table []byte
		for _, v := range colours.colours {
			table = append(table, byte(v), byte(v>>8), byte(v>>16))
		}
		e.chunk("PLTE", table)
	}
	data := bufio.NewWriterSize(dataWriter{e}, 1<<16)
	z, err := zlib.NewWriterLevel(data, zlib.BestSpeed)
	if err != nil {
		return err
	}
	if err := writeRows(z, c, colours); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := data.Flush(); err != nil {
		return err
	}
	e.chunk("IEND", nil)
	return e.err
}

// An index finds the number of a colour: a hash table with room to spare.
type index struct {
	keys    [1024]uint32 // colour + 1; 0: free
	numbers [1024]byte
	colours []uint32
}

// find returns the slot of a colour, or the free one where it belongs.
func (x *index) find(colour uint32) uint32 {
	slot := colour * 2654435769 >> 22
	for x.keys[slot] != 0 && x.keys[slot] != colour+1 {
		slot = (slot + 1) & 1023
	}
	return slot
}

// indexOf numbers the colours of the canvas in order of appearance; nil if there
// are more than 256.
func indexOf(c *canvas) *index {
	x := &index{}
	last := ^uint32(0)
	for _, p := range c.pixels {
		if p == last {
			continue
		}
		last = p
		if slot := x.find(p); x.keys[slot] == 0 {
			if len(x.colours) == 256 {
				return nil
			}
			x.keys[slot], x.numbers[slot] = p+1, byte(len(x.colours))
			x.colours = append(x.colours, p)
		}
	}
	return x
}

// writeRows filters each row: a copy of the row above, or the difference to it in
// true colour; palette indices as they are.
func writeRows(z io.Writer, c *canvas, colours *index) error {
	depth := 3
	if colours != nil {
		depth = 1
	}
	line, above := make([]byte, 1+c.width*depth), make([]byte, c.width*depth)
	row := make([]byte, c.width*depth)
	for y := range c.height {
		pixels := c.pixels[y*c.width : (y+1)*c.width]
		same := y > 0 && slices.Equal(pixels, c.pixels[(y-1)*c.width:y*c.width])
		switch {
		case same:
			line[0] = 2 // up, all zero
			clear(line[1:])
		case colours != nil:
			line[0] = 0
			for i, p := range pixels {
				line[1+i] = colours.numbers[colours.find(p)]
			}
		default:
			for i, p := range pixels {
				row[3*i], row[3*i+1], row[3*i+2] = byte(p), byte(p>>8), byte(p>>16)
			}
			line[0] = 2
			for i := range row {
				line[1+i] = row[i] - above[i]
			}
			row, above = above, row
		}
		if _, err := z.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// An encoder writes chunks and keeps the first error.
type encoder struct {
	w   io.Writer
	err error
}

func (e *encoder) write(b []byte) {
	if e.err == nil {
		_, e.err = e.w.Write(b)
	}
}

func (e *encoder) chunk(kind string, data []byte) {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	head = append(head, kind...)
	sum := crc32.Update(crc32.ChecksumIEEE([]byte(kind)), crc32.IEEETable, data)
	e.write(head)
	e.write(data)
	e.write(binary.BigEndian.AppendUint32(nil, sum))
}

// text writes a tEXt chunk where Latin-1 suffices, else an iTXt chunk.
func (e *encoder) text(key, value string) {
	var latin []byte
	for _, r := range value {
		if r == 0 {
			continue
		}
		if r > 255 {
			utf := append([]byte(key), 0, 0, 0, 0, 0)
			for _, r := range value {
				if r != 0 {
					utf = append(utf, string(r)...)
				}
			}
			e.chunk("iTXt", utf)
			return
		}
		latin = append(latin, byte(r))
	}
	e.chunk("tEXt", append(append([]byte(key), 0), latin...))
}

// dataWriter makes each write a chunk of data.
type dataWriter struct{ e *encoder }

func (d dataWriter) Write(b []byte) (int, error) {
	d.e.chunk("IDAT", b)
	return len(b), d.e.err
}

package tracepoint

import (
	"encoding/binary"
	"testing"
)

const queue = `name: net_dev_queue
ID: 700
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;

	field:void * skbaddr;	offset:8;	size:8;	signed:0;
	field:int len;	offset:16;	size:4;	signed:1;
	field:__data_loc char[] name;	offset:20;	size:4;	signed:0;
`

// Fields come out as the kernel prints them: texts elsewhere in the record, addresses in hexadecimal.
func TestTextOfARecord(t *testing.T) {
	f := &Formats{Order: binary.LittleEndian, Long: 8}
	e := parse("net", []byte(queue))
	record := append([]byte{0xbc, 2, 0, 0, 0, 0, 0, 0, 0x80, 0x88, 0xff, 0xff, 0, 0, 0, 0, 0xc4, 0xff, 0xff, 0xff, 24, 0, 5, 0}, "eth0\x00"...)
	if got := string(f.Text(e, record)); got != "skbaddr=0xffff8880 len=-60 name=eth0" {
		t.Error(got)
	}
	if got := string(f.Text(e, record[:22])); got == "" {
		t.Error("a record that is cut has no text")
	}
}

// Values of trace_printk are packed: texts in place, numbers at multiples of at most four bytes.
func TestExpandedPrints(t *testing.T) {
	f := &Formats{Order: binary.LittleEndian, Long: 8}
	values := append([]byte{0xfd, 0xff, 0xff, 0xff}, "maker\x00\x00\x00\x07\x00\x00\x00\x01\x00\x00\x00"...)
	if got := string(f.expand("step %d of %s took %llu%%, %x left", values)); got != "step -3 of maker took 4294967303%, %x left" {
		t.Error(got)
	}
}

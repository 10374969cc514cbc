package groups

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	lineHeight  = 16
	pad         = 12
	strip       = 8  // colours of groups along the map
	crown       = 56 // the dendrogram over it
	leastName   = 48 // least width of a shortened name
	mostName    = 96 // next to a row of the map
	leastWords  = 340
	leastPair   = 150 // for a region with its caller
	mostCallees = 6   // regions that only some call, for which groups leave room
)

// Item kinds: a group, or two locations of the map.
const (
	ofGroup = iota + 1
	ofPair
)

// Scene writes the groups on the left and draws the map on the right.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	w, h := float32(size.Width), float32(size.Height)
	words, side := r.split(w, h)
	if side > 0 {
		r.heatMap(s, w-side-pad, min(pad+crown+strip, h/4), side)
	}
	r.cards(s, words, h)
	s.Notes = append(s.Notes, r.summary())
	s.Notes = append(s.Notes, r.notes...)
	if side > 0 {
		by := map[string]string{"both": "structure and time", "structure": "structure", "time": "time"}
		s.Legend = append(s.Legend, plot.RampKey("alike ("+by[r.request.Values.Text("similarity")]+")",
			r.request.Values.Text("palette"), view.FormatShare(float64(r.least())), "100 %"))
	}
	members := make([]int, len(r.groups.Members))
	for k := range members {
		members[k] = len(r.groups.Members[k])
	}
	if e, ok := view.OtherGroups(members); ok {
		s.Legend = append(s.Legend, e)
	}
	return s
}

// split returns the widths of words and map.
func (r *result) split(w, h float32) (words, side float32) {
	// Words come first: the map takes the rest.
	side = min(h-pad-min(pad+crown+strip, h/4), w*0.42, max(w-leastWords-3*pad-strip-mostName/2, w*0.22))
	if len(r.groups.Sampled) < 2 || side < 80 || w < 360 {
		return w, 0
	}
	return w - side - 3*pad - strip - r.nameRoom(w, side), side
}

// nameRoom is the width of names next to the rows of the map; 0 if rows are too low, or if words would have too little.
func (r *result) nameRoom(w, side float32) (room float32) {
	if side/float32(len(r.groups.Sampled)) < lineHeight-4 {
		return 0
	}
	for _, m := range r.groups.Sampled {
		room = max(room, scene.TextWidth(r.names[m], scene.TextSize, false))
	}
	room = min(room, mostName) + 4
	if w-side-3*pad-strip-room < leastWords-mostName {
		return 0
	}
	return room
}

func (r *result) describe() string {
	return fmt.Sprintf("%s in %s of like behaviour.", view.Count(r.table.Len, r.each),
		view.Count(len(r.groups.Members), "group"))
}

func (r *result) summary() string {
	text := fmt.Sprintf("%s in %s, %s of calls", view.Count(r.table.Len, r.each),
		view.Count(len(r.groups.Members), "group"), view.Count(r.table.Classes, "different set"))
	if len(r.groups.Members) > 1 {
		return text + fmt.Sprintf(", silhouette %.2f", r.groups.Silhouette)
	}
	return text + ": no clear difference"
}

// cards writes each group: its members, then its differences.
func (r *result) cards(s *scene.Scene, width, height float32) {
	aims, bars, heads, text := &scene.Rect{}, &scene.Rect{}, &scene.Text{Size: scene.TitleSize, Bold: true},
		&scene.Text{Size: scene.TextSize}
	n := len(r.groups.Members)
	all := int((height - pad) / lineHeight)
	lines := max(all/max(n, 1)-1, 0)
	if rest := min(len(r.callees), mostCallees) + 2; n > 1 && rest > 2 && (all-rest)/n > 3 {
		lines = (all-rest)/n - 1 // groups leave space for calls that only some make
	}
	if height > 8*lineHeight {
		lines = max(lines, 2) // the differences of a group come before further groups
	}
	y := float32(pad)
	for k := range r.groups.Members {
		own := min(len(r.differs[k]), max(lines-1, 0))
		if n == 1 {
			own = 0
		}
		need := float32(1+own) * lineHeight
		if k < n-1 {
			need += lineHeight // for saying that there are more
		}
		if y+need > height && k > 0 {
			text.Add(pad, height-4,
				scene.Shorten(fmt.Sprintf("and %s", view.Count(n-k, "more group")), width-2*pad, scene.TextSize),
				scene.UITextMuted, scene.Start)
			break
		}
		top := y
		y += lineHeight - 2
		heads.Add(2*pad, y, r.head(k, width-3*pad), scene.UIText, scene.Start)
		if words := r.signatureWords(k); words != "" && n > 1 && own > 0 && (own > 2 || !r.common(words)) {
			own--
			y += lineHeight
			if scene.TextWidth(words, scene.TextSize, false) > width-3*pad {
				words = r.signatureShort(k)
			}
			text.Add(2*pad, y, scene.Shorten(words, width-3*pad, scene.TextSize), scene.UIText, scene.Start)
		}
		for i := range own {
			y += lineHeight
			text.Add(2*pad, y, r.fit(k, &r.differs[k][i], width-3*pad), scene.UITextMuted, scene.Start)
		}
		if n == 1 && len(r.partials) == 0 {
			y += lineHeight
			text.Add(2*pad, y,
				scene.Shorten("no clear difference between them; --k or --threshold split further", width-3*pad,
					scene.TextSize), scene.UITextMuted, scene.Start)
		}
		if n == 1 {
			y = r.partialLines(text, y, width, height)
		}
		bars.Add(pad-4, top+2, 4, max(y-top+2, 4), view.GroupColour(k))
		aims.AddAim(0, top, width, y-top+lineHeight, s.Item(ofGroup, k))
		y += lineHeight
	}
	if n > 1 && len(r.callees) > 0 && y+3*lineHeight <= height {
		y += lineHeight - 2
		heads.Add(2*pad, y, scene.ShortenBold("Regions that only some call", width-3*pad, scene.TitleSize),
			scene.UIText, scene.Start)
		for i, c := range r.callees {
			y += lineHeight
			if left := len(r.callees) - i; left > 1 && y+lineHeight > height {
				text.Add(2*pad, y, fmt.Sprintf("and %s", view.Count(left, "more region")), scene.UITextMuted,
					scene.Start)
				break
			}
			text.Add(2*pad, y,
				scene.Shorten(fmt.Sprintf("%s: on %s: %s", r.nodes[c.Node].Name, r.share(len(c.Members), r.table.Len),
					view.NameList(r.names, c.Members, 8)), width-3*pad, scene.TextSize), scene.UITextMuted, scene.Start)
		}
	}
	s.AddLayer("groups", -1, aims, bars, dropEmpty(heads), dropEmpty(text))
}

// common reports whether most groups have the same to say: then it distinguishes none.
func (r *result) common(words string) bool {
	same := 0
	for k := range r.groups.Members {
		if r.signatureWords(k) == words {
			same++
		}
	}
	return 2*same > len(r.groups.Members)
}

// function is the function that all members of a group run, if the run sorts its
// locations by it as Go traces do: a group inside a group.
func (r *result) function(k int) string {
	of := trace.NoLocation
	for _, m := range r.groups.Members[k] {
		up := r.tree.Parent[r.locations[m]]
		if of == trace.NoLocation {
			of = up
		}
		if up == trace.NoLocation || up != of {
			return ""
		}
	}
	if of == trace.NoLocation || r.tree.Kind[of] != trace.KindGroup {
		return ""
	}
	if above := r.tree.Parent[of]; above == trace.NoLocation || r.tree.Kind[above] != trace.KindGroup {
		return ""
	}
	return r.tree.Name[of]
}

// head names a group and its members, in fewer words where there is less room.
func (r *result) head(k int, width float32) string {
	members := r.groups.Members[k]
	if of := r.function(k); of != "" {
		before := fmt.Sprintf("Group %d: %s of ", k+1, view.Count(len(members), r.each))
		return before + scene.ShortenBold(of, width-scene.TextWidth(before, scene.TitleSize, true), scene.TitleSize)
	}
	text := fmt.Sprintf("Group %d: %s, %s", k+1, view.Count(len(members), r.each), view.NameList(r.names, members, 8))
	if scene.TextWidth(text, scene.TitleSize, true) > width {
		text = fmt.Sprintf("Group %d: %s", k+1, view.NameList(r.names, members, 4))
	}
	return scene.ShortenBold(text, width, scene.TitleSize)
}

// fit shortens the words of a difference to a width: its name rather than its
// description.
func (r *result) fit(group int, d *grouping.Difference, width float32) string {
	what, how := r.wordsOf(group, d)
	how = ": " + how
	if scene.TextWidth(what+how, scene.TextSize, false) > width {
		how, _, _ = strings.Cut(how, " (") // the ratio says enough
	}
	if scene.TextWidth(what+how, scene.TextSize, false) > width {
		how = strings.TrimSuffix(strings.TrimSuffix(how, " than the others"), " of the others")
	}
	room := width - scene.TextWidth(how, scene.TextSize, false)
	if scene.TextWidth(what, scene.TextSize, false) > room && room < leastPair {
		what = r.nodes[r.table.Columns[d.Column].Callee].Name // without its caller
	}
	if room < leastName {
		return scene.Shorten(what+how, width, scene.TextSize)
	}
	return scene.Shorten(what, room, scene.TextSize) + how
}

// partialLines lists the calls that only some make, where there is one group.
func (r *result) partialLines(text *scene.Text, y, width, height float32) float32 {
	for _, p := range r.partials {
		if y+3*lineHeight > height {
			break
		}
		y += lineHeight
		pair := r.table.Columns[p.Column]
		what := r.nodes[pair.Callee].Name
		if c := r.caller(pair); c != "" {
			what += " from " + c
		}
		text.Add(2*pad, y,
			scene.Shorten(fmt.Sprintf("%s: called on %s: %s", what, r.share(len(p.Members), r.table.Len),
				view.NameList(r.names, p.Members, 8)), width-3*pad, scene.TextSize), scene.UITextMuted, scene.Start)
	}
	return y
}

// dropEmpty takes texts away that were shortened to nothing.
func dropEmpty(t *scene.Text) *scene.Text {
	out := &scene.Text{Size: t.Size, Bold: t.Bold}
	for i, x := range t.Text {
		if x != "" {
			out.Add(t.X[i], t.Y[i], x, t.Fill[i], t.Anchor[i])
		}
	}
	return out
}

// least is the lowest similarity on the map.
func (r *result) least() float32 {
	low := float32(1)
	for _, x := range r.groups.Similarity {
		low = min(low, x)
	}
	return low
}

// heatMap draws the similarity of all that were compared, with the dendrogram over
// it and the groups along its edges. The image has at most a cell a pixel.
func (r *result) heatMap(s *scene.Scene, x, y, side float32) {
	g := r.groups
	n := len(g.Sampled)
	cells := min(n, max(int(side), 1))
	low := r.least()
	ramp := r.request.Values.Text("palette")
	im := &scene.Image{X: x, Y: y, W: side, H: side, Columns: cells, Rows: cells,
		Cells: make([]scene.Colour, cells*cells), Of: ofPair, At: [2]int32{int32(cells), 0}}
	at := func(i int) int { return i * n / cells }
	for i := range cells {
		for j := range cells {
			v := g.Similarity[at(i)*n+at(j)]
			t := 1.0
			if low < 1 {
				t = float64((v - low) / (1 - low))
			}
			im.Cells[i*cells+j] = scene.Ramp(ramp, t)
		}
	}
	colours := &scene.Rect{}
	for from := 0; from < n; {
		to := from
		for to < n && g.Of[g.Sampled[to]] == g.Of[g.Sampled[from]] {
			to++
		}
		a, b := float32(from)/float32(n)*side, float32(to)/float32(n)*side
		c := view.GroupColour(int(g.Of[g.Sampled[from]]))
		colours.Add(x-strip-2, y+a, strip, b-a, c)
		colours.Add(x+a, y-strip-2, b-a, strip, c)
		from = to
	}
	s.AddFrame(scene.Frame{Name: "map", X: x, Y: y, W: side, H: side})
	s.AddLayer("map", 0, im)
	s.AddLayer("edges", -1, colours, r.dendrogram(x, y-strip-6, side), r.rowNames(float32(s.Width), x-strip-6, y, side))
}

// rowNames names the rows of the map where they are high enough.
func (r *result) rowNames(w, right, y, side float32) *scene.Text {
	text := &scene.Text{Size: scene.TextSize}
	if r.nameRoom(w, side) == 0 {
		return text
	}
	step := side / float32(len(r.groups.Sampled))
	for i, m := range r.groups.Sampled {
		text.Add(right, y+(float32(i)+0.5)*step+scene.TextAscent(scene.TextSize)/2,
			scene.Shorten(r.names[m], mostName, scene.TextSize), scene.UITextMuted, scene.End)
	}
	return dropEmpty(text)
}

// dendrogram draws joins as brackets over the map; those lower than a pixel or
// narrower than two are left out.
func (r *result) dendrogram(x, base, side float32) *scene.Line {
	lines := &scene.Line{Width: 1}
	tree := r.groups.Tree
	n := float32(len(r.groups.Sampled))
	if len(tree) == 0 {
		return lines
	}
	top := tree[len(tree)-1].Height
	room := min(base-4, crown-4)
	if top <= 0 || room < 8 {
		return lines
	}
	height := func(h float64) float32 { return base - float32(h/top)*room }
	own := map[[2]int]grouping.Merge{}
	for _, m := range tree {
		own[[2]int{m.From, m.To}] = m
	}
	var middle func(from, to int) (at, h float32)
	middle = func(from, to int) (float32, float32) {
		m, ok := own[[2]int{from, to}]
		if !ok {
			return x + (float32(from)+0.5)/n*side, base
		}
		a, ha := middle(m.From, m.Middle)
		b, hb := middle(m.Middle, m.To)
		h := height(m.Height)
		if b-a >= 2 && base-h >= 1 {
			lines.Add(a, ha, a, h, scene.UIAxis)
			lines.Add(b, hb, b, h, scene.UIAxis)
			lines.Add(a, h, b, h, scene.UIAxis)
		}
		return (a + b) / 2, h
	}
	middle(0, len(r.groups.Sampled))
	return lines
}

func (r *result) similarity(a, b int) float64 {
	return r.table.Similarity(a, b, grouping.LikenessOf(r.request.Values.Text("similarity")))
}

// Fact describes a group or the two locations of a cell.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	if it.Of == ofGroup {
		return r.groupFact(int(it.A)), true
	}
	n, cells := len(r.groups.Sampled), int(it.A)
	at := func(i int) int { return int(r.groups.Sampled[(2*i+1)*n/(2*cells)]) } // the middle one of several
	return r.pairFact(at(int(it.C)/cells), at(int(it.C)%cells)), true
}

func (r *result) pairFact(a, b int) view.Fact {
	f := view.Fact{Title: r.names[a] + " and " + r.names[b],
		Locations: []trace.LocationID{r.locations[a], r.locations[b]}}
	if a == b {
		f.Title, f.Locations = r.names[a], f.Locations[:1]
	}
	f.SayNumber("calls in common", r.table.Similarity(a, b, grouping.Structure), view.FormatShare)
	f.SayNumber("time in common", r.table.Similarity(a, b, grouping.Time), view.FormatShare)
	f.Say("groups", fmt.Sprintf("%d and %d", r.groups.Of[a]+1, r.groups.Of[b]+1), "")
	return f
}

func (r *result) groupFact(k int) view.Fact {
	members := r.groups.Members[k]
	title := fmt.Sprintf("Group %d", k+1)
	if of := r.function(k); of != "" {
		title += ": " + of
	}
	f := view.Fact{Title: title, Locations: r.ids(members), Count: int64(len(members))}
	f.Say("locations", view.NameList(r.names, members, 12), "")
	f.Say("most typical", r.names[r.groups.Medoid[k]], "")
	if words := r.signatureWords(k); words != "" {
		f.Text = "This group " + words + "."
	}
	for i := range r.differs[k] {
		x := &r.differs[k][i]
		f.Say(view.FormatChange(x.Effect), r.words(k, x), "")
	}
	return f
}

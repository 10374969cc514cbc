package demo

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/trace"
)

var shopOptions = Options{Locations: 14, Intervals: 20_000, Seed: 1}

var shopDemo = &Demo{
	Name:    "shop",
	Title:   "Requests through the services of a shop, with five problems that make them slow",
	Options: shopOptions,
	Truth:   shopTruth(shopOptions),
	Write:   writeShop,
	truth:   shopTruth,
}

func shopTruth(o Options) []string {
	if o.Balanced {
		return []string{"Requests for products and checkouts through seven services, without a fault.",
			"No operation is slow, no call is repeated, nothing fails."}
	}
	return []string{
		"In one of four requests for a product, catalog asks the database for 12 items one by one; else it asks once.",
		"One of eight quotes of the last instance of pricing takes nine times as long.",
		"A checkout calls stock, payment and mail one after the other, in any order, where it could call them at once.",
		"One of six charges of payment fails after 2.5 ms and is made again 500 µs later.",
		"One of twenty reservations of stock fails, and the caller does not try again.",
	}
}

var shopServices = []string{"gateway", "catalog", "pricing", "stock", "payment", "mail", "database"}

const (
	gateway = iota
	catalog
	pricing
	stock
	payment
	mail
	database
)

const (
	shopNoise = 200 // per mille of every time
	shopEvery = 900_000
	shopItems = 12
)

// A shopCall is one span of a request.
type shopCall struct {
	at         int // instance
	region     trace.RegionID
	begin, end trace.Time
	parent     int
	failed     bool
}

// A shop makes one request after the other. Requests overlap: they come more often than they last.
type shop struct {
	w         trace.Writer
	noise     random
	faults    bool
	instances int // of each service
	at        []trace.LocationID
	streams   []trace.Stream
	written   []uint32
	regions   map[string]trace.RegionID
	attribute struct{ trace, span, parent, failed trace.AttributeID }
	calls     []shopCall // of the present request
	spans     int64
}

func writeShop(ctx context.Context, o Options, w trace.Writer) error {
	o = o.or(shopOptions)
	s := &shop{w: w, noise: randomOf(o.Seed, 0), faults: !o.Balanced,
		instances: max((o.Locations+len(shopServices)-1)/len(shopServices), 1), regions: map[string]trace.RegionID{}}
	s.attribute.trace, s.attribute.span, s.attribute.parent, s.attribute.failed = w.Attribute("trace"),
		w.Attribute("span"), w.Attribute("parent span"), w.Attribute("error")
	for k, name := range shopServices {
		service := w.Location(trace.Location{Parent: trace.NoLocation, Kind: "service", Name: name, Rank: trace.NoRank,
			Order: int64(k)})
		for i := range s.instances {
			s.at = append(s.at,
				w.Location(trace.Location{Parent: service, Kind: trace.KindProcess,
					Name: fmt.Sprintf("%s-%d", name, i+1), Rank: trace.NoRank, Order: int64(i)}))
		}
	}
	for _, id := range s.at {
		s.streams = append(s.streams, w.Stream(id, trace.StreamOptions{Unordered: true, ByParent: true}))
	}
	s.written = make([]uint32, len(s.at))
	var err error
	for k := uint64(0); s.spans < o.Intervals && err == nil; k++ {
		if k%256 == 0 {
			err = ctx.Err()
		}
		s.calls = s.calls[:0]
		begin := trace.Time(k)*shopEvery + trace.Time(s.noise.below(shopEvery))
		if s.noise.below(8) < 5 {
			s.product(begin)
		} else {
			s.checkout(begin)
		}
		s.write(mix(o.Seed+k+golden), k)
	}
	for _, out := range s.streams {
		if closed := out.Close(); err == nil {
			err = closed
		}
	}
	return err
}

// about returns a time with noise.
func (s *shop) about(microseconds int64) trace.Time {
	return s.noise.around(trace.Time(microseconds)*1000, shopNoise)
}

// one reports whether a fault of one in so many occurs.
func (s *shop) one(in uint64) bool { return s.noise.below(in) == 0 && s.faults }

// open begins a call of a service by the call of a number, at any of its instances.
func (s *shop) open(parent, service int, name string, begin trace.Time) int {
	id, ok := s.regions[name]
	if !ok {
		id = s.w.Region(trace.Region{Name: name, Category: "server", Role: trace.RoleCompute})
		s.regions[name] = id
	}
	s.calls = append(s.calls,
		shopCall{at: service*s.instances + int(s.noise.below(uint64(s.instances))), region: id, begin: begin,
			parent: parent})
	return len(s.calls) - 1
}

func (s *shop) close(call int, end trace.Time) trace.Time {
	s.calls[call].end = end
	return end
}

// leaf is a call without callees; it returns its end.
func (s *shop) leaf(parent, service int, name string, begin, length trace.Time) trace.Time {
	return s.close(s.open(parent, service, name, begin), begin+length)
}

// product looks a product up, and then asks for its price.
func (s *shop) product(begin trace.Time) {
	root := s.open(-1, gateway, "GET /product", begin)
	now := begin + s.about(300)
	list := s.open(root, catalog, "list", now)
	now += s.about(200)
	if s.one(4) {
		for range shopItems {
			now = s.leaf(list, database, "select item", now+s.about(20), s.about(400))
		}
	} else {
		now = s.leaf(list, database, "select items", now, s.about(900))
	}
	now = s.close(list, now+s.about(150))
	now += s.about(150)
	quote := s.open(root, pricing, "quote", now)
	length := s.about(700)
	if slow := s.one(8); slow && s.calls[quote].at == (pricing+1)*s.instances-1 {
		length *= 9
	}
	now = s.close(quote, now+length)
	s.close(root, now+s.about(200))
}

// checkout reserves, charges and sends a mail; none needs the answer of another.
func (s *shop) checkout(begin trace.Time) {
	root := s.open(-1, gateway, "POST /checkout", begin)
	steps := []func(trace.Time) trace.Time{
		func(t trace.Time) trace.Time { return s.reserve(root, t) },
		func(t trace.Time) trace.Time { return s.charge(root, t) },
		func(t trace.Time) trace.Time { return s.leaf(root, mail, "send", t, s.about(600)) },
	}
	now := begin + s.about(250)
	last := now
	for len(steps) > 0 {
		i := int(s.noise.below(uint64(len(steps))))
		if s.faults {
			now = steps[i](now + s.about(30))
			last = now
		} else {
			last = max(last, steps[i](now))
		}
		steps = append(steps[:i:i], steps[i+1:]...)
	}
	s.close(root, last+s.about(200))
}

func (s *shop) reserve(root int, begin trace.Time) trace.Time {
	c := s.open(root, stock, "reserve", begin)
	now := s.leaf(c, database, "update stock", begin+s.about(200), s.about(400))
	s.calls[c].failed = s.one(20)
	return s.close(c, now+s.about(300))
}

func (s *shop) charge(root int, begin trace.Time) trace.Time {
	if s.one(6) {
		c := s.open(root, payment, "charge", begin)
		s.calls[c].failed = true
		begin = s.close(c, begin+s.about(2500)) + s.about(500)
	}
	return s.leaf(root, payment, "charge", begin, s.about(1500))
}

// write writes a request, callers first.
func (s *shop) write(id, number uint64) {
	name := trace.Text(fmt.Sprintf("%016x%016x", id, number))
	ends := make([]trace.End, len(s.calls))
	for i := range s.calls {
		c := &s.calls[i]
		out := s.streams[c.at]
		out.Interval(c.begin, c.end, c.region)
		s.written[c.at]++
		s.spans++
		ends[i] = trace.End{Location: s.at[c.at], Time: c.begin, Region: c.region, Number: s.written[c.at]}
		out.Attribute(s.attribute.trace, name)
		out.Attribute(s.attribute.span, trace.Text(fmt.Sprintf("%016x", mix(id+uint64(i)))))
		if c.failed {
			out.Attribute(s.attribute.failed, trace.Text("true"))
		}
		if c.parent >= 0 {
			out.Attribute(s.attribute.parent, trace.Text(fmt.Sprintf("%016x", mix(id+uint64(c.parent)))))
			s.w.Link(trace.Link{Kind: trace.LinkSpawn, From: ends[c.parent], To: ends[i], Size: -1,
				Communicator: trace.NoCommunicator})
		}
	}
}

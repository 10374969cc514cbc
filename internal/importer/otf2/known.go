package otf2

import "github.com/parallax-hpc/parallax/internal/match"

// A partner is the other end of a message, as records name it.
type partner struct {
	rank, ref, tag uint32
	sent           bool
}

// A knownChannel is the channel of the halves of messages with the same partner.
type knownChannel struct {
	partner
	id      uint16         // of channel
	channel *match.Channel // nil where halves go to the spools
	key     match.Key
	hash    uint64
}

// knownChannels are those that a location has used: the matcher, which all locations
// share, is asked once for each and not once a message. Few are in use at a time,
// and found without hashing; a location that uses more than mostKnown forgets them.
type knownChannels struct {
	recent [64]*knownChannel
	all    map[partner]*knownChannel
}

const mostKnown = 4096

// find returns the channel of a partner; nil if it is not known.
func (c *knownChannels) find(p partner) *knownChannel {
	at := c.at(p)
	if k := *at; k != nil && k.partner == p {
		return k
	}
	k := c.all[p]
	if k != nil {
		*at = k
	}
	return k
}

func (c *knownChannels) add(k *knownChannel) {
	if len(c.all) >= mostKnown {
		clear(c.all)
	}
	if c.all == nil {
		c.all = map[partner]*knownChannel{}
	}
	c.all[k.partner] = k
	*c.at(k.partner) = k
}

// at is the place among the recent ones that partners may share.
func (c *knownChannels) at(p partner) **knownChannel {
	n := p.rank*4 + p.tag*2 + p.ref
	if !p.sent {
		n = ^n
	}
	return &c.recent[n%uint32(len(c.recent))]
}

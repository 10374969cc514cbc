package local

import (
	"context"
)

func (f *finisher) groupPass(ctx context.Context) error {
	n := len(f.rows.c.locationName)
	if err := writeColumn(f.dir, "location.group.u64", make([]uint64, n+1)); err != nil {
		return err
	}
	if err := writeColumn(f.dir, "location.group_level.u8", make([]uint8, n)); err != nil {
		return err
	}
	return writeColumn(f.dir, "location.group_roles.u16", make([]uint16, n))
}

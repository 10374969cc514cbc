package rendertest

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// The scene knows roles only by their number.
func TestRolesHaveTheirOwnFamilies(t *testing.T) {
	for role := range trace.RoleCount {
		name := trace.Role(role).String()
		section, ok := scene.FindSection(name)
		if role == int(trace.RoleNone) {
			if scene.RoleColour(uint8(role)) != scene.UIEmpty {
				t.Error("no role has the colour of one")
			}
			continue
		}
		if !ok || scene.RoleColour(uint8(role)) != section.At(0) {
			t.Errorf("role %d, %s, has the colours of another family", role, name)
		}
	}
}

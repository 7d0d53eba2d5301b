package page

import (
	"math"
	"testing"
)

func TestNumbersAreHidden(t *testing.T) {
	t.Parallel()
	c, other := NewCodec([]byte("0123456789abcdef")), NewCodec([]byte("fedcba9876543210"))
	ada, bob := List{"queue", "acc_a"}, List{"queue", "acc_b"}
	seen := map[string]bool{}
	for _, n := range []int64{0, 1, 2, 3, 1 << 40, math.MaxInt64, -1} {
		for _, l := range []List{ada, bob, {"log", "acc_a"}} {
			id := c.Hide(l, n)
			if got, ok := c.Reveal(l, id); !ok || got != n || c.Hide(l, n) != id || len(id) != 22 {
				t.Errorf("the number %d of %+v is hidden as %q, which decodes to %d, %v", n, l, id, got, ok)
			}
			if seen[id] {
				t.Errorf("two numbers have the id %q", id)
			}
			seen[id] = true
		}
		id := c.Hide(ada, n)
		if _, ok := c.Reveal(bob, id); ok {
			t.Errorf("another account decodes the id of %d", n)
		}
		if _, ok := other.Reveal(ada, id); ok {
			t.Errorf("another installation decodes the id of %d", n)
		}
	}
	for _, id := range []string{"", "7", "AAAAAAAAAAAAAAAAAAAAAA", c.Hide(ada, 1)[1:], c.Hide(ada, 1) + "A", "🐎"} {
		if n, ok := c.Reveal(ada, id); ok {
			t.Errorf("the forged id %q decodes to %d", id, n)
		}
	}
}

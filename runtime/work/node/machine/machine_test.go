package machine_test

import (
	"encoding/json"
	"net/netip"
	"slices"
	"testing"

	"github.com/postrider/postrider/runtime/work/node/machine"
)

// A machine has all of 127.0.0.0/8 but not the addresses of others, and its list agrees.
func TestMachineHasItsAddresses(t *testing.T) {
	t.Parallel()
	var here machine.Interfaces
	list, err := here.List()
	if err != nil || len(list) == 0 {
		t.Fatalf("the machine lists %v, %v, want its addresses", list, err)
	}
	for text, want := range map[string]bool{"127.0.0.1": true, "::ffff:127.0.0.1": true, "127.0.0.77": true,
		"203.0.113.1": false, "2001:db8::1": false} {
		addr := netip.MustParseAddr(text)
		if here.Has(addr) != want || list.Has(addr) != want {
			t.Errorf("Has(%s) is %t, in the list: %t, want %t", text, here.Has(addr), list.Has(addr), want)
		}
	}
	for i, p := range list {
		if p != p.Masked() || p.Addr().IsLinkLocalUnicast() || slices.Contains(list[:i], p) {
			t.Errorf("%s is listed wrongly or twice in %v", p, list)
		}
	}
	text, err := json.Marshal(list)
	var read machine.Networks
	if err != nil || json.Unmarshal(text, &read) != nil || !slices.Equal(read, list) {
		t.Errorf("%s, %v was decoded as %v, want %v", text, err, read, list)
	}
	if err := json.Unmarshal([]byte(`["198.51.100.7", "of a newer version"]`), &read); err != nil ||
		!slices.Equal(read.Texts(), []string{"198.51.100.7"}) {
		t.Errorf("a list with an unknown entry was decoded as %v, %v", read, err)
	}
}

// A machine of a test has exactly the given addresses, in order.
func TestNetworksAsMachine(t *testing.T) {
	t.Parallel()
	f := machine.Networks{netip.MustParsePrefix("127.0.0.3/32"), netip.MustParsePrefix("198.51.100.7/32"),
		netip.MustParsePrefix("127.0.0.3/32")}
	list, err := f.List()
	if err != nil || !slices.Equal(list.Texts(), []string{"198.51.100.7", "127.0.0.3"}) {
		t.Errorf("List returned %v, %v", list, err)
	}
	if f.Has(netip.MustParseAddr("127.0.0.2")) || !f.Has(netip.MustParseAddr("127.0.0.3")) {
		t.Error("Has is wrong for 127.0.0.2 or 127.0.0.3")
	}
}

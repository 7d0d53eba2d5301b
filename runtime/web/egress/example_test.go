package egress_test

import (
	"fmt"
	"net/netip"

	"github.com/postrider/postrider/runtime/web/egress"
)

// A Guard rejects addresses that are not public, unless the operator allows them.
func ExampleGuard() {
	guard := egress.NewGuard([]netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")})
	for _, a := range []string{"192.168.1.1", "10.1.2.3", "93.184.215.14"} {
		fmt.Println(a, guard.CheckAddress(netip.MustParseAddr(a)) == nil)
	}
	// Output:
	// 192.168.1.1 false
	// 10.1.2.3 true
	// 93.184.215.14 true
}

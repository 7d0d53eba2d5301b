package patroni

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// cable connects the network namespace of a machine to the common bridge.
type cable struct {
	space   string // the namespace
	end     string // the interface at the bridge
	address string // address of the machine
}

// newCables creates a bridge and a cable for each of n machines, or returns nil if that is not possible
// here.
func newCables(t testing.TB, n int) []cable {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	for _, program := range []string{"ip", "setpriv"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil
		}
	}
	bridge, network := fmt.Sprintf("prdr%d", os.Getpid()), fmt.Sprintf("10.213.%d.", os.Getpid()%250)
	t.Cleanup(func() { _ = ip("link", "del", bridge) }) // it may not exist
	if err := errors.Join(ip("link", "add", bridge, "type", "bridge"), ip("addr", "add", network+"1/24", "dev", bridge),
		ip("link", "set", bridge, "up")); err != nil {
		t.Logf("running all machines on loopback: %v", err)
		return nil
	}
	var all []cable
	for i := range n {
		c := cable{space: fmt.Sprintf("%s-%d", bridge, i), end: fmt.Sprintf("%sm%d", bridge, i),
			address: fmt.Sprintf("%s%d", network, 11+i)}
		t.Cleanup(func() { _ = ip("netns", "del", c.space) }) // it may not exist
		if err := errors.Join(ip("netns", "add", c.space), ip("link", "add", c.end, "type", "veth", "peer", "name",
			"eth0", "netns", c.space), ip("link", "set", c.end, "master", bridge, "up"),
			ip("-n", c.space, "addr", "add", c.address+"/24", "dev", "eth0"),
			ip("-n", c.space, "link", "set", "eth0", "up"), ip("-n", c.space, "link", "set", "lo", "up")); err != nil {
			t.Logf("running all machines on loopback: %v", err)
			return nil
		}
		all = append(all, c)
	}
	return all
}

func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %v: %w: %s", args, err, out)
	}
	return nil
}

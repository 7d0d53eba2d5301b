package post

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// insideVariable is set in a test process that runs in its own network namespace.
const insideVariable = "POSTRIDER_TEST_NAMESPACE"

// notPermitted is the exit status of a child process that may not configure its network.
const notPermitted = 77

// inNamespace runs the test again in its own network namespace, where every public and private address leads to
// this machine. It returns true where the test should run: inside the namespace, or in this process if the
// system does not allow namespaces, which it logs.
func inNamespace(t *testing.T) (run, whole bool) {
	t.Helper()
	if os.Getenv(insideVariable) != "" {
		if err := takeEveryAddress(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(notPermitted)
		}
		return true, true
	}
	var refused error
	for _, flags := range []uintptr{syscall.CLONE_NEWNET, syscall.CLONE_NEWNET | syscall.CLONE_NEWUSER} {
		child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1", "-test.v", "-test.timeout=200s")
		child.Env = append(os.Environ(), insideVariable+"=1")
		child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
		if flags&syscall.CLONE_NEWUSER != 0 {
			child.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
			child.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
		}
		output, err := child.CombinedOutput()
		var ended *exec.ExitError
		switch {
		case err == nil:
			t.Logf("in a network namespace:\n%s", output)
			return false, false
		case errors.As(err, &ended) && ended.ExitCode() != notPermitted:
			t.Fatalf("in a network namespace: %v\n%s", err, output)
		}
		refused = errors.Join(refused, fmt.Errorf("%w %s", err, output))
	}
	t.Logf("THIS SYSTEM DOES NOT ALLOW NETWORK NAMESPACES (%v): only local addresses have listeners", refused)
	return true, false
}

// takeEveryAddress brings lo up and routes all IPv4 and IPv6 addresses to it as local addresses ("ip route add
// local 0.0.0.0/0 dev lo"), using rtnetlink(7).
func takeEveryAddress() error {
	const lo = 1 // lo has this index in every namespace
	native := binary.NativeEndian
	link := make([]byte, syscall.SizeofIfInfomsg)
	native.PutUint32(link[4:], lo)
	native.PutUint32(link[8:], syscall.IFF_UP)
	native.PutUint32(link[12:], syscall.IFF_UP)
	if err := askKernel(syscall.RTM_NEWLINK, link); err != nil {
		return fmt.Errorf("bring lo up: %w", err)
	}
	for family, scope := range map[byte]byte{syscall.AF_INET: syscall.RT_SCOPE_HOST,
		syscall.AF_INET6: syscall.RT_SCOPE_UNIVERSE} {
		route := make([]byte, syscall.SizeofRtMsg+syscall.SizeofRtAttr+4)
		route[0], route[4], route[5], route[6], route[7] = family, syscall.RT_TABLE_LOCAL, syscall.RTPROT_BOOT, scope,
			syscall.RTN_LOCAL
		attribute := route[syscall.SizeofRtMsg:]
		native.PutUint16(attribute, syscall.SizeofRtAttr+4)
		native.PutUint16(attribute[2:], syscall.RTA_OIF)
		native.PutUint32(attribute[4:], lo)
		if err := askKernel(syscall.RTM_NEWROUTE, route); err != nil {
			return fmt.Errorf("route family %d to lo: %w", family, err)
		}
	}
	return nil
}

// askKernel sends one request and reads its acknowledgement.
func askKernel(kind uint16, body []byte) error {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, syscall.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	message := make([]byte, syscall.SizeofNlMsghdr, syscall.SizeofNlMsghdr+len(body))
	native := binary.NativeEndian
	native.PutUint32(message, uint32(syscall.SizeofNlMsghdr+len(body)))
	native.PutUint16(message[4:], kind)
	native.PutUint16(message[6:], syscall.NLM_F_REQUEST|syscall.NLM_F_ACK|syscall.NLM_F_CREATE)
	if err := syscall.Sendto(fd, append(message, body...), 0,
		&syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, 4096)
	n, _, err := syscall.Recvfrom(fd, answer, 0)
	if err != nil {
		return err
	}
	if n < syscall.SizeofNlMsghdr+4 || native.Uint16(answer[4:]) != syscall.NLMSG_ERROR {
		return errors.New("netlink: not an acknowledgement")
	}
	if code := int32(native.Uint32(answer[syscall.SizeofNlMsghdr:])); code != 0 {
		return syscall.Errno(-code)
	}
	return nil
}

// connectsBegun returns the number of TCP connections ever started in this network namespace, to any address
// and port (tcpActiveOpens, RFC 4022).
func connectsBegun(t testing.TB) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/net/snmp")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if fields[0] != "Tcp:" {
			continue
		}
		if names == nil {
			names = fields
			continue
		}
		for i, name := range names {
			if name == "ActiveOpens" {
				n, err := strconv.Atoi(fields[i])
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
		}
	}
	t.Fatal("/proc/self/net/snmp has no Tcp ActiveOpens")
	return 0
}

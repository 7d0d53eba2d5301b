// Package postfix starts Postfix with OpenDKIM on loopback, to compare with Postrider. Both must be installed (see
// CheckInstalled), and Postfix requires root.
package postfix

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/postrider/postrider/cmd/bench/machine"
)

// Server is a separate instance of Postfix and OpenDKIM in a scratch folder. It does not touch the configuration and
// queue of the system.
type Server struct {
	Addr, Log string

	config string
	milter *exec.Cmd
	master int // process id
}

// Domain is the domain that OpenDKIM signs for.
const Domain = "peer.test"

// Start runs both programs in dir. Postfix relays mail to the SMTP server sink.
func Start(ctx context.Context, dir, sink string) (_ *Server, err error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("postfix requires root")
	}
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	p := &Server{Addr: "127.0.0.1:" + port, config: filepath.Join(dir, "postfix"),
		Log: filepath.Join(dir, "postfix.log")}
	defer func() {
		if err != nil {
			p.Stop()
		}
	}()
	if err := p.configure(dir, port, sink); err != nil {
		return nil, err
	}
	if err := p.startMilter(ctx, dir); err != nil {
		return nil, err
	}
	if err := waitListening(ctx, "unix", filepath.Join(dir, "spool", milterSocket)); err != nil {
		return nil, fmt.Errorf("opendkim: %w", err)
	}
	if output, err := exec.CommandContext(ctx, "postfix", "-c", p.config, "start").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("postfix start: %w: %s%s", err, output, machine.ReadTail(p.Log))
	}
	pid, err := os.ReadFile(filepath.Join(dir, "spool", "pid", "master.pid"))
	if err == nil {
		p.master, err = strconv.Atoi(strings.TrimSpace(string(pid)))
	}
	if err != nil {
		return nil, fmt.Errorf("postfix's process id: %w", err)
	}
	return p, waitListening(ctx, "tcp", p.Addr)
}

// milterSocket is the socket of OpenDKIM in the queue directory. Over TCP, each message could wait twice for a delayed
// acknowledgment (40 ms each).
const milterSocket = "opendkim.sock"

// startMilter runs OpenDKIM as a child process with a new key.
func (p *Server) startMilter(ctx context.Context, dir string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	keyFile, config := filepath.Join(dir, "dkim.pem"), filepath.Join(dir, "opendkim.conf")
	encoded := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	settings := fmt.Sprintf("Mode s\nDomain %s\nSelector bench\nKeyFile %s\nRequireSafeKeys no\nSocket local:%s\nUMask 000\n"+
		"Canonicalization relaxed/relaxed\nInternalHosts 127.0.0.1\nSyslog no\nBackground no\nPidFile %s\n",
		Domain, keyFile, filepath.Join(dir, "spool", milterSocket), filepath.Join(dir, "opendkim.pid"))
	if err := errors.Join(os.WriteFile(keyFile, encoded, 0o600),
		os.WriteFile(config, []byte(settings), 0o600)); err != nil {
		return err
	}
	p.milter = exec.CommandContext(context.WithoutCancel(ctx), "opendkim", "-f", "-x", config)
	p.milter.Stderr = os.Stderr
	return p.milter.Start()
}

const mainCF = `compatibility_level = 3.6
queue_directory = %[1]s/spool
data_directory = %[1]s/state
maillog_file = %[1]s/postfix.log
maillog_file_prefixes = %[1]s
myhostname = peer.localhost
mydestination =
alias_maps =
alias_database =
local_recipient_maps =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
smtpd_relay_restrictions = permit_mynetworks, reject
smtpd_tls_security_level = none
smtp_tls_security_level = none
smtpd_milters = unix:%[2]s
milter_default_action = tempfail
relayhost = [%[3]s]:%[4]s
smtp_host_lookup = native
in_flow_delay = 0
initial_destination_concurrency = 32
default_destination_concurrency_limit = 64
max_use = 100000
smtpd_client_connection_count_limit = 0
`

const masterCF = `%s inet n - n - - smtpd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
smtp unix - - n - - smtp
error unix - - n - - error
retry unix - - n - - error
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
`

func (p *Server) configure(dir, port, sink string) error {
	host, sinkPort, err := net.SplitHostPort(sink)
	if err != nil {
		return err
	}
	owner, err := user.Lookup("postfix")
	if err != nil {
		return err
	}
	uid, err := strconv.Atoi(owner.Uid)
	if err != nil {
		return err
	}
	state := filepath.Join(dir, "state")
	return errors.Join(
		os.Mkdir(p.config, 0o755), os.Mkdir(filepath.Join(dir, "spool"), 0o755), os.Mkdir(state, 0o700),
		os.Chown(state, uid, 0),
		os.WriteFile(filepath.Join(p.config, "main.cf"), fmt.Appendf(nil, mainCF, dir, milterSocket, host, sinkPort), 0o600),
		os.WriteFile(filepath.Join(p.config, "master.cf"), fmt.Appendf(nil, masterCF, port), 0o600))
}

// Stop stops both programs.
func (p *Server) Stop() {
	if p.master != 0 {
		// Not the context of the run: an interrupt has canceled it.
		if output, err := exec.CommandContext(context.Background(), "postfix", "-c", p.config, "stop").
			CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "bench: postfix stop: %v: %s\n", err, output)
		}
	}
	if p.milter != nil && p.milter.Process != nil {
		if err := p.milter.Process.Signal(syscall.SIGTERM); err != nil {
			fmt.Fprintln(os.Stderr, "bench: opendkim stop:", err)
		}
		_ = p.milter.Wait() // the signal is its only error
	}
}

// CPU returns the CPU time of all their processes.
func (p *Server) CPU() time.Duration {
	return machine.ReadTreeCPU(p.master) + machine.ReadTreeCPU(p.milter.Process.Pid)
}

func freePort(ctx context.Context) (port string, err error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	_, port, err = net.SplitHostPort(l.Addr().String())
	return port, err
}

// waitListening waits until a server accepts connections.
func waitListening(ctx context.Context, network, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s does not accept connections: %w", addr, err)
		}
	}
}

const installLine = "apt-get install --no-install-recommends postfix opendkim"

// CheckInstalled returns an error if a required program is missing.
func CheckInstalled() error {
	for _, name := range []string{"postfix", "postconf", "smtp-source", "opendkim"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("%s is not installed (Debian: %s; then stop the services that this starts)", name,
				installLine)
		}
	}
	return nil
}

// Inject sends messages of the same size to an SMTP server, from concurrent sessions that stay open.
func Inject(ctx context.Context, addr, to string, messages, sessions int, size int64) error {
	source := exec.CommandContext(ctx, "smtp-source", "-d", "-s", strconv.Itoa(sessions), "-l",
		strconv.FormatInt(size, 10), "-m", strconv.Itoa(messages),
		"-f", "bench@"+Domain, "-t", to, addr)
	if output, err := source.CombinedOutput(); err != nil {
		return fmt.Errorf("smtp-source: %w: %s", err, output)
	}
	return nil
}

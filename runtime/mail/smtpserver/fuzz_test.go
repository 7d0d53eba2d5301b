package smtpserver_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/mail/smtpserver"
)

// For any input, replies are valid protocol lines, the connection ends, and stored messages have CRLF lines and
// stay within the size limit.
func FuzzSession(f *testing.F) {
	for _, seed := range []string{
		"EHLO a\r\nMAIL FROM:<a@b.c>\r\nRCPT TO:<d@e.f>\r\nDATA\r\nx\r\n.\r\nQUIT\r\n",
		"EHLO a\r\nMAIL FROM:<>\r\nRCPT TO:<postmaster>\r\nBDAT 3\r\na\r\nBDAT 1 LAST\r\n\n",
		"HELO a\r\nMAIL FROM:<\"a\\\"b\"@b.c> SIZE=1\r\nRSET\r\nSTARTTLS\r\n",
		"EHLO a\nDATA\r.\r\n", "AUTH PLAIN =\r\n*\r\n", "BDAT 4294967295 LAST\r\n", "",
	} {
		f.Add([]byte(seed))
	}
	k := &keeper{}
	s := start(f, k, func(c *smtpserver.Config) {
		c.MaxMessageBytes, c.PerAddress, c.Idle, c.BodyRead = 2000, 1000, 5*time.Second, 5*time.Second
	})
	f.Fuzz(func(t *testing.T, raw []byte) {
		c := s.dial(t)
		if _, err := c.Write(raw); err == nil {
			c.Conn.(*net.TCPConn).CloseWrite() //nolint:forcetypeassert // the server may have closed it
		}
		said, _ := io.ReadAll(c.r) // it may reset a client that sends garbage
		for line := range strings.SplitSeq(strings.TrimRight(string(said), "\r\n"), "\r\n") {
			if line != "" && (len(line) < 4 || line[0] < '2' || line[0] > '5' || line[3] != ' ' && line[3] != '-' ||
				strings.ContainsAny(line, "\r\n\x00")) {
				t.Errorf("answered %q", line)
			}
		}
		for _, m := range k.storedMessages() {
			if len(m) > 2000 || strings.Count(m, "\n") != strings.Count(m, "\r\n") ||
				strings.Count(m, "\r") != strings.Count(m, "\r\n") {
				t.Errorf("kept %q", m)
			}
		}
	})
}

package receivers

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"strconv"
)

// Webhook is an HTTP server that counts POST requests.
type Webhook struct{ server }

// NewWebhook starts a webhook endpoint.
func NewWebhook(ctx context.Context) (*Webhook, error) {
	w := &Webhook{}
	return w, w.start(ctx, w.serve)
}

// URL is the URL of the endpoint.
func (w *Webhook) URL() string { return "http://" + w.Addr() + "/hooks" }

func (w *Webhook) serve(conn net.Conn) {
	in := bufio.NewReaderSize(conn, 16<<10)
	for {
		length, err := readHead(in)
		if err != nil {
			return
		}
		if _, err := in.Discard(length); err != nil {
			return
		}
		if _, err := conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")); err != nil {
			return
		}
		w.count()
	}
}

func readHead(in *bufio.Reader) (length int, err error) {
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			return length, nil
		}
		if value, found := bytes.CutPrefix(line, []byte("Content-Length: ")); found {
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, err
			}
		}
	}
}

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"time"

	"github.com/postrider/postrider/cmd/postrider/client"
)

// progress counts lines on a terminal while they are written.
type progress struct {
	to    io.Writer
	log   io.Writer // nil without a terminal
	lines int
	shown time.Time
}

func (s *session) progressTo(w io.Writer) *progress {
	p := &progress{to: w}
	if isTerminal(s.log) {
		p.log = s.log
	}
	return p
}

func (p *progress) Write(b []byte) (int, error) {
	const interval = 200 * time.Millisecond
	n, err := p.to.Write(b)
	p.lines += bytes.Count(b[:n], []byte("\n"))
	if p.log != nil && time.Since(p.shown) >= interval {
		p.shown = time.Now()
		fmt.Fprintf(p.log, "\r%d lines", p.lines)
	}
	return n, err
}

// end clears the line.
func (p *progress) end() {
	if p.log != nil {
		fmt.Fprint(p.log, "\r\x1b[K")
	}
}

// exportTarget is where a command writes an export.
type exportTarget struct {
	Out   string `help:"File to write; it appears when it is complete (default: standard output)." placeholder:"FILE" short:"o"`
	Quiet bool   `help:"Print neither the progress nor the number of lines." short:"q"`
}

// write runs an export, and writes it to the file, or to standard output for "" and "-". The file appears when it is
// complete.
func (t exportTarget) write(s *session, r remote, path string, query url.Values) error {
	file := t.Out
	server, err := r.server()
	if err != nil {
		return err
	}
	get := client.Request{Method: "GET", Path: path, Query: query}
	if file == "" || file == "-" {
		return server.Copy(s.ctx, get, s.out)
	}
	partial := file + ".part"
	f, err := os.OpenFile(partial, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	p := s.progressTo(f)
	if t.Quiet {
		p.log = nil
	}
	err = server.Copy(s.ctx, get, p)
	p.end()
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(partial))
	}
	if err := os.Rename(partial, file); err != nil {
		return err
	}
	if !t.Quiet {
		fmt.Fprintf(s.log, "%s: %d lines written\n", file, p.lines)
	}
	return nil
}

// Package bridge connects an AI agent that speaks the Model Context Protocol over standard input and output to the
// tools of a Postrider server. It forwards each message to /mcp and does not know the tools.
package bridge

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
)

const (
	maxLine     = 4 << 20 // bytes of a message from the agent
	maxResponse = 32 << 20
	maxRunning  = 8 // messages waiting for a response
	maxWait     = 2 * time.Minute
)

// Request describes which Postrider to connect to.
type Request struct {
	BaseURL string
	APIKey  string
	Version string // version of this program
	In      io.Reader
	Out     io.Writer // receives only messages of the protocol
}

// Validate reports every invalid field.
func (in Request) Validate() error {
	wrong := fault.Fields{}
	if u, err := url.Parse(in.BaseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		wrong.Add("--base-url", "must be an http or https URL")
	}
	if in.APIKey == "" {
		wrong.Add("--api-key", "is required (POSTRIDER_API_KEY)")
	}
	return wrong.Err()
}

// Run forwards messages until the input or ctx ends. If a message gets no response, Run responds with a protocol error,
// so that the agent can report it.
func Run(ctx context.Context, in Request) error {
	if err := in.Validate(); err != nil {
		return err
	}
	b := &forwarder{in: in, client: &http.Client{Timeout: maxWait,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	lines := make(chan []byte)
	failed := make(chan error, 1)
	go func() { // ends with the program if the input stays open
		defer close(lines)
		from := bufio.NewScanner(in.In)
		from.Buffer(nil, maxLine)
		for from.Scan() {
			select {
			case lines <- bytes.Clone(bytes.TrimSpace(from.Bytes())):
			case <-ctx.Done():
				return
			}
		}
		failed <- from.Err()
	}()
	var running sync.WaitGroup
	defer running.Wait()
	places := make(chan struct{}, maxRunning)
	for {
		select {
		case <-ctx.Done():
			return nil // the agent stopped it
		case line, open := <-lines:
			if !open {
				select {
				case err := <-failed:
					return err
				default:
					return nil
				}
			}
			if len(line) == 0 {
				continue
			}
			places <- struct{}{}
			running.Go(func() { defer func() { <-places }(); b.forward(ctx, line) })
		}
	}
}

// forwarder forwards messages.
type forwarder struct {
	in     Request
	client *http.Client

	mu       sync.Mutex
	protocol string // negotiated version; empty before the negotiation
}

// message is the part of a message that the bridge reads.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name string         `json:"name"`
		Meta map[string]any `json:"_meta"`
	} `json:"params"`
}

const protocolKey = "io.modelcontextprotocol/protocolVersion"

func (b *forwarder) forward(ctx context.Context, line []byte) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		b.refuse(json.RawMessage("null"), -32700, "The message is not a JSON object of the protocol.")
		return
	}
	answer, err := b.post(ctx, m, line)
	switch {
	case len(m.ID) == 0 || ctx.Err() != nil:
	case err != nil:
		b.refuse(m.ID, -32000, err.Error())
	default:
		if m.Method == "initialize" {
			b.rememberProtocol(answer)
		}
		b.write(answer)
	}
}

// post sends one message and returns the response; nil if the message has none.
func (b *forwarder) post(ctx context.Context, m message, line []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(b.in.BaseURL, "/")+"/mcp",
		bytes.NewReader(line))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+b.in.APIKey)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("User-Agent", "postrider-mcp/"+cmp.Or(b.in.Version, "unknown"))
	r.Header.Set("Mcp-Method", m.Method)
	if m.Params.Name != "" {
		r.Header.Set("Mcp-Name", m.Params.Name)
	}
	if version := b.protocolFor(m); version != "" {
		r.Header.Set("Mcp-Protocol-Version", version)
	}
	response, err := b.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("cannot reach %s: %w. Check --base-url", b.in.BaseURL, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponse+1))
	if err != nil || len(body) > maxResponse {
		return nil, errors.New("the response ended unexpectedly or is too large")
	}
	return readAnswer(response, body)
}

// readAnswer returns the message of a response on one line.
func readAnswer(response *http.Response, body []byte) ([]byte, error) {
	var answer struct {
		Protocol string `json:"jsonrpc"`
		Error    struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	readable := json.Unmarshal(body, &answer) == nil
	var line bytes.Buffer
	switch {
	case readable && answer.Protocol != "":
		if err := json.Compact(&line, body); err != nil {
			return nil, err
		}
		return line.Bytes(), nil
	case response.StatusCode == http.StatusAccepted:
		return nil, nil
	case response.StatusCode == http.StatusUnauthorized:
		return nil, errors.New("the API key is not accepted. Check --api-key (POSTRIDER_API_KEY)")
	case response.StatusCode == http.StatusNotFound, response.StatusCode == http.StatusMethodNotAllowed:
		return nil, errors.New("the server has no tools: POSTRIDER_MCP or the module mcp is off, or its version is too old")
	case response.StatusCode >= 300 && response.StatusCode < 400:
		return nil, fmt.Errorf("the server redirects to %s. Use that as --base-url", response.Header.Get("Location"))
	}
	if text := cmp.Or(answer.Error.Message, strings.TrimSpace(string(body[:min(len(body), 200)]))); text != "" {
		return nil, fmt.Errorf("%s (HTTP %d)", strings.TrimSuffix(text, "."), response.StatusCode)
	}
	return nil, fmt.Errorf("unexpected response: HTTP %d", response.StatusCode)
}

// protocolFor returns the version of the protocol that a message uses; empty if it is not negotiated yet.
func (b *forwarder) protocolFor(m message) string {
	if version, is := m.Params.Meta[protocolKey].(string); is {
		return version
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.protocol
}

func (b *forwarder) rememberProtocol(answer []byte) {
	var initialized struct {
		Result struct {
			Version string `json:"protocolVersion"`
		} `json:"result"`
	}
	if json.Unmarshal(answer, &initialized) != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.protocol = initialized.Result.Version
}

// refuse responds to a message with an error.
func (b *forwarder) refuse(id json.RawMessage, code int, text string) {
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id,
		"error": map[string]any{"code": code, "message": strings.TrimSuffix(text, ".") + "."}})
	if err == nil {
		b.write(line)
	}
}

// write writes one message. It ignores failures: if the agent has exited, the input is closed too, and the next read
// fails.
func (b *forwarder) write(line []byte) {
	if line == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	_, _ = b.in.Out.Write(append(line, '\n'))
}

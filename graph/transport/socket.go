package transport

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/limit"
	"github.com/postrider/postrider/runtime/web/clientip"
	"github.com/postrider/postrider/runtime/web/server"
)

// Operations also arrive over WebSocket, in the protocol graphql-transport-ws
// (https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md). Its first message authenticates the connection.
// Each operation is then admitted like a POST.
const (
	subprotocol = "graphql-transport-ws"

	initTime      = 10 * time.Second // for the first message to arrive
	initBytes     = 8 << 10          // maximum size of the first message
	messageBytes  = 256 << 10        // maximum size of every other message
	silence       = 4 * server.Heartbeat
	maxID         = 128 // bytes of the ID of an operation
	maxOperations = 20  // in progress on a connection
)

// socketBounds limits the connections of an account and of a process.
var socketBounds = limit.Bounds{PerKey: 50, Total: 2000}

// The status codes with which the protocol ends a connection.
const (
	closeRestart      websocket.StatusCode = 1012
	closeTryLater     websocket.StatusCode = 1013
	closeInvalid      websocket.StatusCode = 4400
	closeUnauthorized websocket.StatusCode = 4401
	closeForbidden    websocket.StatusCode = 4403
	closeInitTimeout  websocket.StatusCode = 4408
	closeDuplicate    websocket.StatusCode = 4409
	closeTooManyInits websocket.StatusCode = 4429
)

// isUpgrade reports whether a request is a WebSocket upgrade.
func isUpgrade(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// socketMessage is a message of the protocol.
type socketMessage struct {
	ID      string          `json:"id,omitempty"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// socket is a connection.
type socket struct {
	h     *handler
	conn  *websocket.Conn
	asked *http.Request // the upgrade, with the credential of the connection; as a POST, so that origins are checked
	owner intake.Tenant // pays for incoming messages: the client's network until it has authenticated
	done  sync.WaitGroup

	// The library closes the connection if a context ends while it reads or writes, so operations have their own.
	ctx           context.Context //nolint:containedctx // of the connection
	cancel        context.CancelFunc
	operations    context.Context //nolint:containedctx // of all operations
	endOperations context.CancelFunc

	mu     sync.Mutex
	active map[string]*socketOperation // by ID
}

func (h *handler) serveSocket(w http.ResponseWriter, r *http.Request) {
	offered := strings.Split(strings.Join(r.Header.Values("Sec-Websocket-Protocol"), ","), ",")
	for i, name := range offered {
		offered[i] = strings.TrimSpace(name)
	}
	if !slices.Contains(offered, subprotocol) {
		h.refuse(w, r, http.StatusBadRequest, &fault.Error{Code: fault.CodeValidation,
			Message: "A WebSocket requires the subprotocol " + subprotocol})
		return
	}
	// The credential, which arrives later, determines the allowed origins.
	conn, err := websocket.Accept(innerWriter(w), r, &websocket.AcceptOptions{Subprotocols: []string{subprotocol},
		InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return // Accept has responded
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context())) // a shutdown closes the connection first
	asked := r.Clone(ctx)
	asked.Method, asked.Body = http.MethodPost, http.NoBody
	s := &socket{h: h, conn: conn, asked: asked, ctx: ctx, cancel: cancel,
		owner: intake.Tenant{Remote: clientip.From(r, h.proxies)}, active: map[string]*socketOperation{}}
	s.operations, s.endOperations = context.WithCancel(ctx)
	defer conn.CloseNow() //nolint:errcheck // the connection is over
	defer s.done.Wait()
	defer cancel()
	stop := context.AfterFunc(r.Context(), func() { s.end(closeRestart, "The server is stopping") })
	defer stop()
	s.serve()
}

// innerWriter returns the innermost writer, whose connection can be hijacked. The writers around it delay the response.
func innerWriter(w http.ResponseWriter) http.ResponseWriter {
	for {
		if _, can := w.(http.Hijacker); can {
			return w
		}
		wrapped, is := w.(interface{ Unwrap() http.ResponseWriter })
		if !is {
			return w
		}
		w = wrapped.Unwrap()
	}
}

// end closes the connection with a status code.
func (s *socket) end(code websocket.StatusCode, reason string) {
	const maxReason = 123 // bytes (RFC 6455 section 5.5.1)
	s.endOperations()
	s.conn.Close(code, reason[:min(len(reason), maxReason)]) //nolint:errcheck // the client may have disconnected
	s.cancel()
}

// endRefused closes the connection because its caller has no access.
func (s *socket) endRefused(err error) {
	known := fault.Classify(err)
	switch known.Kind {
	case fault.Unauthorized:
		s.end(closeUnauthorized, known.Message)
	case fault.Forbidden, fault.Invalid, fault.NotFound:
		s.end(closeForbidden, known.Message)
	default:
		s.end(closeTryLater, "Try again later")
	}
}

// admit authenticates the caller of an operation.
func (s *socket) admit(ctx context.Context) (accounts.Caller, error) {
	return s.h.door.Admit(headerWriter{}, s.asked.WithContext(ctx), s.h.accounts, s.h.rate)
}

// serve runs the connection until one side ends it.
func (s *socket) serve() {
	caller, admitted := s.begin()
	if !admitted {
		return
	}
	key := caller.AccountID
	if key == "" {
		key = caller.ID()
	}
	if !s.h.sockets.TryAcquire(key) {
		s.end(closeTryLater, "Too many connections are open")
		return
	}
	defer s.h.sockets.Release(key)
	if s.send(socketMessage{Type: "connection_ack"}) != nil {
		return
	}
	s.conn.SetReadLimit(messageBytes)
	s.owner = intake.Tenant{Account: caller.AccountID}
	s.done.Go(s.keepAlive)
	for {
		message, ok := s.read()
		if !ok || !s.handle(message) {
			return
		}
	}
}

// begin authenticates the connection by its first message.
func (s *socket) begin() (accounts.Caller, bool) {
	s.conn.SetReadLimit(initBytes)
	late := time.AfterFunc(initTime, func() { s.end(closeInitTimeout, "Connection initialisation timeout") })
	defer late.Stop()
	for {
		message, ok := s.read()
		switch {
		case !ok:
			return accounts.Caller{}, false
		case message.Type == "ping":
			if s.send(socketMessage{Type: "pong"}) != nil {
				return accounts.Caller{}, false
			}
			continue
		case message.Type == "pong":
			continue
		case message.Type != "connection_init":
			s.end(closeUnauthorized, "Unauthorized")
			return accounts.Caller{}, false
		}
		if err := s.takeCredential(message.Payload); err != nil {
			s.end(closeInvalid, err.Error())
			return accounts.Caller{}, false
		}
		caller, err := s.admit(s.operations)
		if err != nil {
			s.endRefused(err)
			return accounts.Caller{}, false
		}
		return caller, true
	}
}

// takeCredential adds the Authorization of the first message to the request. Without one, the request keeps the header
// fields of the upgrade.
func (s *socket) takeCredential(payload json.RawMessage) error {
	if len(payload) == 0 {
		return nil
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(payload, &given); err != nil {
		return errors.New("the payload of connection_init must be an object")
	}
	for name, value := range given {
		if !strings.EqualFold(name, "authorization") {
			continue
		}
		var text string
		if err := json.Unmarshal(value, &text); err != nil {
			return errors.New("authorization must be a string")
		}
		s.asked.Header.Set("Authorization", text)
	}
	return nil
}

// read returns the next message. It ends the connection if the message is invalid, or none arrives in time.
func (s *socket) read() (message socketMessage, ok bool) {
	ctx, cancel := context.WithTimeout(s.ctx, silence)
	defer cancel()
	kind, from, err := s.conn.Reader(ctx)
	if err != nil {
		return message, false
	}
	if kind != websocket.MessageText {
		s.end(closeInvalid, "A message must be JSON text")
		return message, false
	}
	content := s.h.budget.NewContent(intake.Terms{Tenant: s.owner, MaxMemory: messageBytes, MaxSize: messageBytes,
		Patience: server.WriteTime})
	defer content.Close()
	if _, err := io.Copy(content.Writer(ctx), from); err != nil {
		// If a message is too large, the library has closed the connection. Otherwise the budget is exhausted.
		s.end(closeTryLater, "Try again later")
		return message, false
	}
	content.Finish()
	err = intake.RecoverDiskFault(func() error {
		text, err := content.Bytes()
		if err != nil {
			return err
		}
		return json.Unmarshal(text, &message)
	})
	if err != nil || message.Type == "" || len(message.ID) > maxID {
		s.end(closeInvalid, "A message must be an object of the protocol "+subprotocol)
		return message, false
	}
	return message, true
}

// send writes a message. If the client does not read it in time, the connection is closed.
func (s *socket) send(message socketMessage) error {
	text, err := encode(message)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.ctx, server.WriteTime)
	defer cancel()
	return s.conn.Write(ctx, websocket.MessageText, text)
}

// sendPayload writes a message with a payload to the client of one operation.
func (s *socket) sendPayload(operationID, kind string, payload any) error {
	encoded, err := encode(payload)
	if err != nil {
		return err
	}
	return s.send(socketMessage{ID: operationID, Type: kind, Payload: encoded})
}

// keepAlive sends pings, and ends the connections of revoked keys, ended sessions and members who left.
func (s *socket) keepAlive() {
	recheck, beat := time.NewTicker(server.Recheck), time.NewTicker(server.Heartbeat)
	defer recheck.Stop()
	defer beat.Stop()
	for {
		select {
		case <-s.operations.Done():
			return
		case <-recheck.C:
			if _, err := s.h.door.Authenticate(s.asked.WithContext(s.operations)); err != nil {
				s.endRefused(err)
				return
			}
		case <-beat.C:
			if s.send(socketMessage{Type: "ping"}) != nil {
				s.cancel()
				return
			}
		}
	}
}

// handle processes a message, and reports whether the connection stays open.
func (s *socket) handle(message socketMessage) bool {
	switch message.Type {
	case "ping":
		return s.send(socketMessage{Type: "pong"}) == nil
	case "pong":
		return true
	case "complete":
		s.complete(message.ID)
		return true
	case "subscribe":
		return s.startOperation(message)
	case "connection_init":
		s.end(closeTooManyInits, "Too many initialisation requests")
	default:
		s.end(closeInvalid, "Unknown message type")
	}
	return false
}

// headerWriter discards the header fields that authentication sets, because a message has none.
type headerWriter struct{}

// Header implements http.ResponseWriter.
func (headerWriter) Header() http.Header { return http.Header{} }

// WriteHeader implements http.ResponseWriter.
func (headerWriter) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (headerWriter) Write(p []byte) (int, error) { return len(p), nil }

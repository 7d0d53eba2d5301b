package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	bridge "github.com/ThreeDotsLabs/watermill-nats/v2/pkg/nats"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/nats-io/nats.go"

	"github.com/postrider/postrider/runtime/base/telemetry"
)

// madeHere is in the metadata of a stream that Open created, under the key madeBy. Such a stream is updated
// to the configuration; a stream created by others is only checked.
const (
	madeBy   = "made_by"
	madeHere = "postrider"
)

// Stream is a connection to the servers and to a stream that exists or was created there. It is safe for
// concurrent use.
type Stream struct {
	config    Config
	conn      *nats.Conn
	js        nats.JetStreamContext
	publisher message.Publisher
}

// Open connects, and creates the stream if it does not exist. It updates a stream that it has created to the
// configuration. Its error describes the problem with the server, or with a stream created by others.
func Open(ctx context.Context, c Config) (*Stream, error) {
	s, err := connect(c)
	if err != nil {
		return nil, err
	}
	if err := s.Prepare(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close closes the connection.
func (s *Stream) Close() { s.conn.Close() }

// IsClosed reports whether the connection is closed permanently.
func (s *Stream) IsClosed() bool { return s.conn.IsClosed() }

func connect(c Config) (*Stream, error) {
	conn, err := nats.Connect(strings.Join(c.Target.Servers, ","), c.options()...)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", strings.Join(c.Target.Servers, ", "), err)
	}
	js, err := conn.JetStream(nats.MaxWait(ackLimit))
	if err != nil {
		conn.Close()
		return nil, err
	}
	publisher, err := bridge.NewPublisherWithNatsConn(conn, bridge.PublisherPublishConfig{Marshaler: marshaler{},
		SubjectCalculator: func(_,
			subject string) *bridge.SubjectDetail {
			return &bridge.SubjectDetail{Primary: subject}
		},
		JetStream: bridge.JetStreamConfig{AutoProvision: false,
			ConnectOptions: []nats.JSOpt{nats.MaxWait(ackLimit)},
			PublishOptions: []nats.PubOpt{nats.ExpectStream(c.Stream)}}}, nil)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &Stream{config: c, conn: conn, js: js, publisher: publisher}, nil
}

func (c Config) options() []nats.Option {
	told := func(what string) nats.ConnHandler {
		return func(conn *nats.Conn) {
			c.Logger.Info("event export: "+what, telemetry.KeyRemoteHost, conn.ConnectedUrlRedacted())
		}
	}
	options := []nats.Option{
		nats.Name(c.Name), nats.Timeout(dialLimit), nats.MaxReconnects(-1), nats.ReconnectWait(500 * time.Millisecond),
		nats.ReconnectBufSize(-1), // no message is sent after its publisher has stopped waiting for it
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(1), nats.NoEcho(), nats.IgnoreAuthErrorAbort(),
		nats.ReconnectHandler(told("connected again")),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				c.Logger.Warn("event export: connection lost, reconnecting", telemetry.KeyError, err)
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			c.Logger.Warn("event export: server error", telemetry.KeyError, err)
		}),
	}
	t, f := c.Target, c.Files
	switch {
	case !t.Token.IsZero():
		options = append(options, nats.Token(t.Token.Reveal()))
	case t.User != "":
		options = append(options, nats.UserInfo(t.User, t.Password.Reveal()))
	}
	if f.Credentials != "" {
		options = append(options, nats.UserCredentials(f.Credentials))
	}
	if f.CA != "" {
		options = append(options, nats.RootCAs(f.CA))
	}
	if f.Cert != "" {
		options = append(options, nats.ClientCert(f.Cert, f.Key))
	}
	return options
}

// Prepare ensures that the stream exists and matches the configuration.
func (s *Stream) Prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*ackLimit)
	defer cancel()
	found, err := s.js.StreamInfo(s.config.Stream, nats.Context(ctx))
	if errors.Is(err, nats.ErrStreamNotFound) {
		if _, err = s.js.AddStream(s.newConfig(), nats.Context(ctx)); err != nil {
			return fmt.Errorf("create the stream %s with %d replicas: %w", s.config.Stream, s.config.Replicas, err)
		}
		s.config.Logger.Info("event export: stream created", "stream", s.config.Stream, "replicas", s.config.Replicas,
			"max_age", s.config.MaxAge)
		return nil
	}
	if err != nil {
		return s.explainMissing(err)
	}
	if found.Config.Metadata[madeBy] != madeHere {
		return s.checkUsable(found.Config)
	}
	return s.adjust(ctx, found.Config)
}

// explainMissing returns an error for servers that do not respond about the stream.
func (s *Stream) explainMissing(err error) error {
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("look up the stream %s: JetStream does not respond; it is disabled on these servers, or "+
			"too few of them are up: %w", s.config.Stream, err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return fmt.Errorf("look up the stream %s: JetStream does not respond in time; fewer than half of its "+
			"servers are up, or their disks are full: %w", s.config.Stream, err)
	}
	return fmt.Errorf("look up the stream %s: %w", s.config.Stream, err)
}

// newConfig returns the configuration of a new stream. A full stream rejects messages instead of discarding
// unread ones; rejected messages wait in the database.
func (s *Stream) newConfig() *nats.StreamConfig {
	return &nats.StreamConfig{Name: s.config.Stream, Description: "Events of Postrider.",
		Subjects:  []string{s.config.Prefix + ".>"},
		Retention: nats.LimitsPolicy, Discard: nats.DiscardNew, Storage: nats.FileStorage, Replicas: s.config.Replicas,
		MaxAge:     s.config.MaxAge,
		Duplicates: s.config.duplicateWindow(), AllowDirect: true, Metadata: map[string]string{madeBy: madeHere}}
}

// adjust updates a stream created by Open to the current configuration. It keeps limits that an operator has
// set.
func (s *Stream) adjust(ctx context.Context, is nats.StreamConfig) error {
	want, to := s.newConfig(), is
	to.Subjects, to.Replicas, to.MaxAge, to.Duplicates = want.Subjects, want.Replicas, want.MaxAge, want.Duplicates
	if slices.Equal(is.Subjects, to.Subjects) && is.Replicas == to.Replicas && is.MaxAge == to.MaxAge &&
		is.Duplicates == to.Duplicates {
		return nil
	}
	if _, err := s.js.UpdateStream(&to, nats.Context(ctx)); err != nil {
		return fmt.Errorf("change the stream %s to %d replicas: %w", s.config.Stream, to.Replicas, err)
	}
	s.config.Logger.Info("event export: stream updated", "stream", s.config.Stream, "replicas", to.Replicas,
		"max_age", to.MaxAge)
	return nil
}

// checkUsable returns why a stream created by others cannot be used, or nil.
func (s *Stream) checkUsable(is nats.StreamConfig) error {
	var wrong []error
	if !slices.ContainsFunc(is.Subjects, func(pattern string) bool { return covers(pattern, s.config.Prefix+".>") }) {
		wrong = append(wrong, fmt.Errorf("it has the subjects %s, but requires %s.>", strings.Join(is.Subjects, ", "),
			s.config.Prefix))
	}
	if is.Duplicates < s.config.duplicateWindow() {
		wrong = append(wrong, fmt.Errorf("its duplicate window is %s, but must be at least %s", is.Duplicates,
			s.config.duplicateWindow()))
	}
	if is.Storage != nats.FileStorage {
		wrong = append(wrong, errors.New("its storage must be file, not memory"))
	}
	if is.NoAck {
		wrong = append(wrong, errors.New("it acknowledges nothing"))
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the existing stream %s cannot be used: %w", s.config.Stream, errors.Join(wrong...))
	}
	return nil
}

// covers reports whether a subject pattern matches everything that another one matches.
func covers(pattern, other string) bool {
	p, o := strings.Split(pattern, "."), strings.Split(other, ".")
	for i, token := range p {
		switch {
		case token == ">":
			return len(o) > i
		case i >= len(o), token != "*" && token != o[i], o[i] == ">":
			return false
		}
	}
	return len(p) == len(o)
}

// Replicas returns how many servers have the stream of a configuration, or 0 if it does not exist. Its error
// says why the stream cannot be reached or used.
func Replicas(ctx context.Context, c Config) (int, error) {
	s, err := connect(c)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(ctx, ackLimit)
	defer cancel()
	found, err := s.js.StreamInfo(c.Stream, nats.Context(ctx))
	switch {
	case errors.Is(err, nats.ErrStreamNotFound):
		return 0, nil
	case err != nil:
		return 0, s.explainMissing(err)
	case found.Config.Metadata[madeBy] != madeHere:
		return found.Config.Replicas, s.checkUsable(found.Config)
	}
	return found.Config.Replicas, nil
}

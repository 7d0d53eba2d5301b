package jetstream

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/nats-io/nats.go"

	"github.com/postrider/postrider/runtime/work/event"
)

// lanes is the number of accounts that are published concurrently.
const lanes = 32

// headerAccount contains the account of a fact, for readers of streams whose subjects are mapped.
const headerAccount = "Postrider-Account"

// marshaler converts a message for NATS: the id for deduplication, and the payload.
type marshaler struct{}

// Marshal implements the Marshaler of watermill-nats. The topic is the subject.
func (marshaler) Marshal(subject string, m *message.Message) (*nats.Msg, error) {
	out := &nats.Msg{Subject: subject, Data: m.Payload, Header: nats.Header{nats.MsgIdHdr: {m.UUID}}}
	for name, value := range m.Metadata {
		out.Header[name] = []string{value}
	}
	return out, nil
}

// Publish publishes facts, which must be in id order, and waits for the acknowledgements. It calls goOn
// before each fact; an error means that this process may no longer publish. acked[i] reports whether facts[i]
// was acknowledged. The error is the first one; after it, Publish starts no further fact.
func (s *Stream) Publish(ctx context.Context, facts []event.Fact, goOn func() error) (acked []bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	acked = make([]bool, len(facts))
	var all sync.WaitGroup
	for _, lane := range byAccount(facts) {
		all.Go(func() {
			for _, i := range lane {
				err := context.Cause(ctx)
				if err == nil {
					err = goOn()
				}
				if err == nil {
					err = s.publish(facts[i])
				}
				if err != nil {
					cancel(err)
					return
				}
				acked[i] = true
			}
		})
	}
	all.Wait()
	return acked, context.Cause(ctx)
}

// byAccount returns the indexes of facts, partitioned so that each account's facts are in one part, in
// order.
func byAccount(facts []event.Fact) [][]int {
	parts := make([][]int, lanes)
	for i, f := range facts {
		h := fnv.New32a()
		h.Write([]byte(f.AccountID)) // never fails
		lane := h.Sum32() % lanes
		parts[lane] = append(parts[lane], i)
	}
	return parts
}

func (s *Stream) publish(f event.Fact) error {
	body, err := event.Encode(f.AccountID, f.ID, f.Type, f.CreatedAt, f.Data)
	if err != nil {
		return fmt.Errorf("encode %s: %w", f.ID, err)
	}
	m := message.NewMessage(f.ID, body)
	m.Metadata.Set(headerAccount, f.AccountID)
	if err := s.publisher.Publish(s.subject(f), m); errors.Is(err, nats.ErrTimeout) {
		return fmt.Errorf("publish %s (%d bytes): %w: the server does not acknowledge; its disk is full or slow, or fewer than half of the servers are up", f.ID, len(body), err)
	} else if err != nil {
		return fmt.Errorf("publish %s (%d bytes): %w", f.ID, len(body), err)
	}
	return nil
}

func (s *Stream) subject(f event.Fact) string {
	return s.config.Prefix + "." + subjectToken(f.AccountID) + "." + subjectToken(string(f.Type))
}

// subjectToken converts a text to a subject token. Ids and event types are valid tokens.
func subjectToken(text string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == '*' || r == '>' || r > '~' {
			return '_'
		}
		return r
	}, text)
}

// StoredIDs returns the ids after the position among the last messages of the stream. It asks the leader, which
// has every acknowledged message.
func (s *Stream) StoredIDs(ctx context.Context, position string, last int) (map[string]bool, error) {
	found, err := s.js.StreamInfo(s.config.Stream, nats.Context(ctx))
	if err != nil {
		return nil, s.explainMissing(err)
	}
	ids := map[string]bool{}
	state := found.State
	for sequence := state.LastSeq; sequence >= max(state.FirstSeq, 1) &&
		state.LastSeq-sequence < uint64(last); sequence-- {
		m, err := s.js.GetMsg(s.config.Stream, sequence, nats.Context(ctx))
		switch {
		case errors.Is(err, nats.ErrMsgNotFound): // deleted by hand
			continue
		case err != nil:
			return nil, fmt.Errorf("read the end of the stream %s: %w", s.config.Stream, err)
		}
		if id := m.Header.Get(nats.MsgIdHdr); id > position {
			ids[id] = true
		}
	}
	return ids, nil
}

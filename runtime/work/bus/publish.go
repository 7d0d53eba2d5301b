package bus

import (
	"context"
	"errors"
	"fmt"

	wsql "github.com/ThreeDotsLabs/watermill-sql/v4/pkg/sql"
	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// topic is the only topic: a column distinguishes groups, not a table.
const topic = "facts"

// Publish writes the facts and a message for every group that wants them, as part of the transaction tx:
// *sql.Tx, *ent.Tx or the executor of a handler. It uses one statement for all of them. Call Wake after the
// commit.
func (b *Bus) Publish(ctx context.Context, tx db.Execer, facts ...event.Fact) error {
	if len(facts) == 0 {
		return nil
	}
	if !inTransaction(tx) {
		return fmt.Errorf("publish facts: %T is not a transaction", tx)
	}
	messages, err := messagesOf(facts)
	if err != nil {
		return err
	}
	messages[0].SetContext(ctx) // Watermill's publisher uses the context of the first message
	publisher, err := wsql.NewPublisher(executor{tx}, wsql.PublisherConfig{SchemaAdapter: schema{audience: b.audience}},
		nil)
	if err != nil {
		return fmt.Errorf("publish facts: %w", err)
	}
	if err := publisher.Publish(topic, messages...); err != nil {
		return fmt.Errorf("publish facts: %w", err)
	}
	return nil
}

func messagesOf(facts []event.Fact) (message.Messages, error) {
	messages := make(message.Messages, len(facts))
	for i, f := range facts {
		m, err := messageOf(f)
		if err != nil {
			return nil, fmt.Errorf("publish facts: %w", err)
		}
		messages[i] = m
	}
	return messages, nil
}

// inTransaction rejects handles that would commit each statement separately, because the fact would then
// exist without the change that it describes.
func inTransaction(tx db.Execer) bool {
	switch tx.(type) {
	case handlerTx:
		return true
	case interface {
		Commit() error
		Rollback() error
	}:
		return true
	}
	return false
}

// executor adapts the caller's transaction to Watermill.
type executor struct{ tx db.Execer }

func (e executor) ExecContext(ctx context.Context, query string, args ...any) (wsql.Result, error) {
	return e.tx.ExecContext(ctx, query, args...)
}

func (executor) QueryContext(context.Context, string, ...any) (wsql.Rows, error) {
	return nil, errors.New("publishing does not read")
}

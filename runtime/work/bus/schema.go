package bus

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	wsql "github.com/ThreeDotsLabs/watermill-sql/v4/pkg/sql"
	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postrider/postrider/runtime/storage/db"
	rows "github.com/postrider/postrider/runtime/storage/db/batch"
	"github.com/postrider/postrider/runtime/work/event"
)

// schema defines how facts are stored and found. It replaces Watermill's schemas. Migrations create the
// tables.
type schema struct {
	audience audience // for publishing
	group    *group   // for reading
}

var _ wsql.SchemaAdapter = schema{}

// groupMessage is a message: a fact for a group of consumers.
type groupMessage struct{ group, factID string }

var factRows = rows.New("fact",
	rows.Text("id", func(m *message.Message) string { return m.UUID }).SourceOnly(),
	rows.ComputedColumn[*message.Message]("id", idTimeSQL("fact.id")),
	rows.Text("account_id", func(m *message.Message) string { return m.Metadata[metaAccount] }),
	rows.Text("type", func(m *message.Message) string { return m.Metadata[metaType] }),
	rows.Text("subject_id", func(m *message.Message) string { return m.Metadata[metaSubject] }),
	rows.Text("data", func(m *message.Message) string { return string(m.Payload) }).As("jsonb"),
	rows.Text("created_at", func(m *message.Message) string { return m.Metadata[metaTime] }).As("timestamptz"),
)

var messageRows = rows.New("message",
	rows.Text("consumer", func(w groupMessage) string { return w.group }),
	rows.Text("fact_id", func(w groupMessage) string { return w.factID }).SourceOnly(),
	rows.ComputedColumn[groupMessage]("fact_id", idTimeSQL("message.fact_id")),
)

var (
	insertFacts            = db.Compile(factRows.Insert("facts"))
	insertFactsAndMessages = db.Compile("WITH fact AS (" + factRows.Insert("facts") + ")\n" +
		messageRows.Insert("bus_messages"))
)

// PublishSQL is Publish as part of another statement: two common table expressions, fact and message. The
// conditions select which of their rows are written: those of fact, with the columns id, account_id and type,
// and those of message, with consumer and fact_id. PublishArgs returns the parameters.
func PublishSQL(fact, message string) string {
	return "fact AS (" + factRows.Insert("facts") + " WHERE " + fact + "),\n" +
		"message AS (" + messageRows.Insert("bus_messages") + " WHERE " + message + ")"
}

// PublishArgs returns the parameters of PublishSQL.
func (b *Bus) PublishArgs(facts ...event.Fact) ([]db.Argument, error) {
	messages, err := messagesOf(facts)
	if err != nil {
		return nil, err
	}
	return []db.Argument{factRows.Rows(messages), messageRows.Rows(b.audience.wantedMessages(messages))}, nil
}

// InsertQuery writes all facts and their messages in one statement.
func (s schema) InsertQuery(p wsql.InsertQueryParams) (wsql.Query, error) {
	facts, messages := factRows.Rows(p.Msgs), s.audience.wantedMessages(p.Msgs)
	if len(messages) == 0 { // no group wants them
		return wsql.Query{Query: insertFacts.Text, Args: insertFacts.Args(facts)}, nil
	}
	return wsql.Query{Query: insertFactsAndMessages.Text,
		Args: insertFactsAndMessages.Args(facts, messageRows.Rows(messages))}, nil
}

// selectMessages locks the next messages of a group that no other process holds. The sub-select with LIMIT
// keeps the planner from joining all facts; a missing fact (deleted manually) leaves its columns null.
//
// The limit is a sub-select so that the planner does not compare it with its estimate of the number of messages,
// which comes from a time when the table was almost empty: it would read and sort the whole queue for each batch.
// Without a known limit, it follows the key and stops.
const selectMessages = `
WITH due AS MATERIALIZED (
  SELECT "offset", fact_id, failures, last_error IS NOT NULL AS troubled FROM bus_messages
  WHERE consumer = $1 AND due_at <= now()
  ORDER BY "offset" LIMIT (SELECT $2::bigint) FOR UPDATE SKIP LOCKED
)
SELECT due."offset", due.failures, due.troubled, due.fact_id, f.account_id, f.type, f.subject_id, f.data, f.created_at
FROM due LEFT JOIN LATERAL (SELECT * FROM facts WHERE facts.id = due.fact_id LIMIT 1) f ON true
ORDER BY due."offset"`

// SelectQuery returns the query for the next batch.
func (s schema) SelectQuery(wsql.SelectQueryParams) (wsql.Query, error) {
	return wsql.Query{Query: selectMessages, Args: []any{s.group.name, s.group.limit}}, nil
}

// UnmarshalMessage reads a row of selectMessages. The batch stores the values for which Watermill has no
// field.
func (s schema) UnmarshalMessage(p wsql.UnmarshalMessageParams) (wsql.Row, error) {
	var offset int64
	var failures int
	var troubled bool
	var id string
	var account, typ, subject sql.NullString
	var data []byte
	var created sql.NullTime
	if err := p.Row.Scan(&offset, &failures, &troubled, &id, &account, &typ, &subject, &data, &created); err != nil {
		return wsql.Row{}, fmt.Errorf("scan message: %w", err)
	}
	m := message.NewMessage(id, data)
	m.Metadata = message.Metadata{metaAccount: account.String, metaType: typ.String, metaSubject: subject.String,
		metaTime: created.Time.UTC().Format(time.RFC3339Nano)}
	s.group.batch.addExpected(m, delivery{offset: offset, factID: id, failures: failures, troubled: troubled,
		gone: !created.Valid})
	return wsql.Row{Offset: offset, Msg: m}, nil
}

// SubscribeIsolationLevel is READ COMMITTED: under REPEATABLE READ a row that
// another replica has just deleted would be a serialization failure of the batch.
func (schema) SubscribeIsolationLevel() sql.IsolationLevel { return sql.LevelReadCommitted }

// SchemaInitializingQueries returns an error: migrations create the tables.
func (schema) SchemaInitializingQueries(wsql.SchemaInitializingQueriesParams) ([]wsql.Query, error) {
	return nil, errors.New("the migrations create the tables of the bus")
}

// offsets defines what a commit removes from the queue.
type offsets struct{ group *group }

var _ wsql.OffsetsAdapter = offsets{}

const (
	// The range keeps the planner from reading all messages of the group (selectMessages has the reason).
	deleteMessages = `DELETE FROM bus_messages WHERE consumer = $1 AND "offset" = ANY($2) AND "offset" BETWEEN $3 AND $4`

	// The row of bus_handled replaces the messages: without either, the catch-up would deliver the facts
	// again.
	recordHandled = `
WITH record AS (INSERT INTO bus_handled (consumer, first_id, last_id, fact_ids) VALUES ($1, $5, $6, $7))
` + deleteMessages

	// Requeued facts are in bus_poison until they are handled.
	recordRequeued = `
WITH record AS (INSERT INTO bus_handled (consumer, first_id, last_id, fact_ids) VALUES ($1, $5, $6, $7)),
poison AS (DELETE FROM bus_poison WHERE consumer = $1 AND fact_id = ANY($7))
` + deleteMessages
)

// AckMessageQuery deletes exactly the messages that were handled in this transaction, whatever Watermill
// fetched or considers acknowledged, and records their facts as handled.
func (o offsets) AckMessageQuery(wsql.AckMessageQueryParams) (wsql.Query, error) {
	handled, err := o.group.batch.close()
	if err != nil {
		return wsql.Query{}, err
	}
	numbers, facts := make([]int64, len(handled)), make([]string, len(handled))
	query := recordHandled
	for i, d := range handled {
		numbers[i], facts[i] = d.offset, d.factID
		if d.troubled {
			query = recordRequeued
		}
	}
	if len(handled) == 0 {
		return wsql.Query{Query: deleteMessages, Args: []any{o.group.name, db.Array(numbers), 0, 0}}, nil
	}
	return wsql.Query{Query: query, Args: []any{o.group.name, db.Array(numbers), slices.Min(numbers), slices.Max(numbers),
		slices.Min(facts), slices.Max(facts), db.Array(facts)}}, nil
}

// ConsumedMessageQuery is not needed.
func (offsets) ConsumedMessageQuery(wsql.ConsumedMessageQueryParams) (wsql.Query, error) {
	return wsql.Query{}, nil
}

// NextOffsetQuery is not needed: there are no offsets, only rows.
func (offsets) NextOffsetQuery(wsql.NextOffsetQueryParams) (wsql.Query, error) {
	return wsql.Query{}, nil
}

// SchemaInitializingQueries does nothing.
func (offsets) SchemaInitializingQueries(wsql.OffsetsSchemaInitializingQueriesParams) ([]wsql.Query, error) {
	return nil, nil
}

// BeforeSubscribingQueries does nothing.
func (offsets) BeforeSubscribingQueries(wsql.BeforeSubscribingQueriesParams) ([]wsql.Query, error) {
	return nil, nil
}

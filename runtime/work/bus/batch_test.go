package bus

import (
	"errors"
	"testing"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// Watermill commits the open transaction when it is closed between the end of a handler and the
// acknowledgement, or while a handler runs. group.run prevents this; if it happens nevertheless, nothing may
// be stored.
func TestCommitWithoutDeletionIsRejected(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	for name, spoil := range map[string]func(*batch, *message.Message) error{
		"handled but not deleted": func(b *batch, m *message.Message) error {
			taken, _ := b.takeDelivery(m)
			b.returnDelivery(taken, true, nil)
			return nil
		},
		"a handler is running": func(b *batch, m *message.Message) error {
			b.takeDelivery(m)
			_, err := b.close()
			return err
		},
		"broken": func(b *batch, m *message.Message) error {
			b.takeDelivery(m)
			b.markBroken(errors.New("connection lost"), nil)
			if _, err := b.close(); err == nil {
				return errors.New("the deletion was not rejected")
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tx, err := d.SQL.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.ExecContext(t.Context(), "INSERT INTO bus_messages (consumer, fact_id) VALUES ($1, 'evt_1')", name); err != nil {
				t.Fatal(err)
			}
			m := message.NewMessage("evt_1", nil)
			b := &batch{tx: tx, expected: map[*message.Message]delivery{m: {offset: 1}}}
			if err := spoil(b, m); err != nil {
				t.Fatal(err)
			}
			if err := b.checkCommit(); !errors.Is(err, errUnsettled) {
				t.Errorf("commit returned %v", err)
			}
			var stored int
			if err := d.SQL.QueryRowContext(t.Context(), "SELECT count(*) FROM bus_messages WHERE consumer = $1", name).Scan(&stored); err != nil {
				t.Fatal(err)
			}
			if stored != 0 {
				t.Error("the effect was committed")
			}
		})
	}
}

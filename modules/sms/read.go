package sms

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/smsattempt"
	"github.com/postrider/postrider/ent/smsmessage"
	"github.com/postrider/postrider/modules/sms/textmsg"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Filter selects messages. Empty fields match every message.
type Filter struct {
	page.Request

	Status       string
	To           string // E.164
	AutomationID string
	RunID        string
}

// List returns one page of the account's messages, newest first.
func (s *Service) List(ctx context.Context, accountID string, f Filter) (out page.Page[*ent.SMSMessage], err error) {
	wrong := fault.Fields{}
	q := s.db.Ent.SMSMessage.Query().Where(smsmessage.AccountID(accountID))
	if f.Status != "" {
		if err := smsmessage.StatusValidator(smsmessage.Status(f.Status)); err != nil {
			wrong.Add("status", "must be queued, sent, delivered, failed or unknown")
		}
		q = q.Where(smsmessage.StatusEQ(smsmessage.Status(f.Status)))
	}
	if f.To != "" {
		to, err := textmsg.Parse(f.To)
		if err != nil {
			wrong.Add("to", "%s", err)
		}
		q = q.Where(smsmessage.NumberHashIn(s.optOuts.Hashes(to.E164)...))
	}
	if f.AutomationID != "" {
		q = q.Where(smsmessage.AutomationID(f.AutomationID))
		if !id.Is(id.Automation, f.AutomationID) {
			wrong.Add("automation_id", "must be the ID of an automation")
		}
	}
	if f.RunID != "" {
		q = q.Where(smsmessage.RunID(f.RunID))
		if !id.Is(id.Run, f.RunID) {
			wrong.Add("run_id", "must be the ID of a run")
		}
	}
	if err := wrong.Err(); err != nil {
		return out, err
	}
	return page.ReadNewest(ctx, s.cursors, page.List{Name: "sms messages", AccountID: accountID}, f.Request, q,
		func(m *ent.SMSMessage) string { return m.ID })
}

// StoredMessage is a message with its attempts, oldest first.
type StoredMessage struct {
	*ent.SMSMessage

	Attempts []*ent.SMSAttempt
}

// Get returns one message of the account.
func (s *Service) Get(ctx context.Context, accountID, messageID string) (out StoredMessage, err error) {
	if !id.Is(id.SMS, messageID) {
		return out, fault.NoSuch("text message", messageID)
	}
	out.SMSMessage, err = s.db.Ent.SMSMessage.Query().Where(smsmessage.AccountID(accountID), smsmessage.ID(messageID)).
		Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return out, fault.NoSuch("text message", messageID)
	case err != nil:
		return out, fmt.Errorf("read a text message: %w", err)
	}
	out.Attempts, err = s.db.Ent.SMSAttempt.Query().
		Where(smsattempt.MessageID(messageID), smsattempt.AccountID(accountID)).Order(ent.Asc(smsattempt.FieldID)).
		All(ctx)
	if err != nil {
		return out, fmt.Errorf("read the attempts of a text message: %w", err)
	}
	return out, nil
}

// OfRun returns the messages sent by a run, oldest first.
func (s *Service) OfRun(ctx context.Context, accountID, runID string) ([]*ent.SMSMessage, error) {
	rows, err := s.db.Ent.SMSMessage.Query().Where(smsmessage.AccountID(accountID), smsmessage.RunID(runID)).
		Order(ent.Asc(smsmessage.FieldID)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the text messages of a run: %w", err)
	}
	return rows, nil
}

// StepCount is the number of messages with one status sent by one step of a version of an automation.
type StepCount struct {
	AutomationID string
	Version      int
	StepIndex    int
	Status       smsmessage.Status
	Count        int
}

// All messages of an automation belong to one account, so reading one of them determines the account; the
// others are counted in the index.
const stepCountsSQL = `
SELECT a.id, c.version, c.step_index, c.status, c.n
FROM unnest($2::text[]) AS a (id)
CROSS JOIN LATERAL (SELECT account_id FROM sms_messages WHERE automation_id = a.id LIMIT 1) AS one
CROSS JOIN LATERAL (SELECT version, step_index, status, count(*) AS n FROM sms_messages WHERE automation_id = a.id GROUP BY version, step_index, status) AS c
WHERE one.account_id = $1`

// StepCounts counts the messages of the account's automations by step and status.
func (s *Service) StepCounts(ctx context.Context, accountID string, automationIDs ...string) ([]StepCount, error) {
	list, err := db.All(ctx, s.db.SQL,
		func(c *StepCount) []any { return []any{&c.AutomationID, &c.Version, &c.StepIndex, &c.Status, &c.Count} },
		stepCountsSQL, accountID, db.Array(automationIDs))
	if err != nil {
		return nil, fmt.Errorf("count text messages by step: %w", err)
	}
	return list, nil
}

package sms

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/sms"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/page"
)

// SMSMessage is a message in a list. It is exported because it is embedded.
type SMSMessage struct { //nolint:revive // the schema in the document has this name
	ID           string            `json:"id" doc:"The ID of the text message." example:"sms_01kf0m4w7he6x8q2v5b3n9c1ta"`
	To           string            `json:"to" doc:"The phone number of the recipient." example:"+4915112345678"`
	Country      string            `json:"country" doc:"Country of the number; 001 if it has none." example:"DE"`
	From         *string           `json:"from" doc:"The sender that the step specifies; null if the sender from the settings is used."`
	Text         string            `json:"text" doc:"The text of the message."`
	Encoding     string            `json:"encoding" enum:"gsm7,ucs2" doc:"gsm7: 160 characters in a single segment, 153 in each of several. ucs2: 70 and 67; used if any character is outside the GSM alphabet."`
	Segments     int               `json:"segments" doc:"Number of segments that the provider charges for."`
	Status       string            `json:"status" enum:"queued,sent,delivered,failed,unknown" doc:"unknown: the provider did not respond, and the message is not sent again."`
	ErrorCode    *string           `json:"error_code" doc:"Why the message failed, is unknown or is waiting: a code of the provider, or suppressed, busy, unreachable, no_answer, expired, refused, settings, no_provider, not_delivered, account_suspended or internal." example:"suppressed"`
	Error        *string           `json:"error" doc:"The reason as a sentence."`
	Provider     *string           `json:"provider" enum:"capture,twilio,http" doc:"The provider that sent the message. null if none has."`
	ProviderID   *string           `json:"provider_id" doc:"The provider's ID of the message."`
	AutomationID *string           `json:"automation_id" doc:"The ID of the automation that sent the message. null if none did." example:"aut_01kf0m4w7he6x8q2v5b3n9c1ta"`
	RunID        *string           `json:"run_id" doc:"The ID of the run that sent the message. null if none did." example:"run_01kf0m4w7he6x8q2v5b3n9c1ta"`
	CreatedAt    wire.Time         `json:"created_at" doc:"When the message was accepted."`
	SentAt       wire.OptionalTime `json:"sent_at" doc:"When the provider accepted the message. null if it has not."`
	NextAt       wire.OptionalTime `json:"next_at" doc:"When the next attempt is due; null if none is."`
}

type smsAttempt struct {
	Number     int               `json:"number" doc:"The number of the attempt, starting at 1."`
	Provider   string            `json:"provider" doc:"The provider that the request was sent to."`
	Outcome    *string           `json:"outcome" enum:"sent,temporary,failed,unknown" doc:"Outcome of the attempt; null if it is in progress or was interrupted."`
	StatusCode *int              `json:"status_code" doc:"Status code of the provider's response."`
	Error      *string           `json:"error" doc:"Why the attempt failed. null if it did not."`
	StartedAt  wire.Time         `json:"started_at" doc:"When the attempt started."`
	FinishedAt wire.OptionalTime `json:"finished_at" doc:"When the attempt ended. null while it has not."`
}

type smsMessageDetail struct {
	SMSMessage

	Attempts []smsAttempt `json:"attempts" nullable:"false" doc:"Requests to the provider, oldest first."`
}

type messageAnswer struct {
	Message smsMessageDetail `json:"sms_message" doc:"The text message, with its attempts."`
}

type query struct {
	api.Page

	Status       string `query:"status" enum:"queued,sent,delivered,failed,unknown" doc:"Return only messages with this status."`
	To           string `query:"to" doc:"Return only messages to this number, such as +4915112345678."`
	AutomationID string `query:"automation_id" doc:"Return only messages of this automation."`
	RunID        string `query:"run_id" doc:"Return only messages of this run."`
}

var message = api.Noun{Name: "text message", About: "ID of the text message.",
	Example: "sms_01kf0m4w7he6x8q2v5b3n9c1ta",
	Is:      func(word string) bool { return id.Is(id.SMS, word) }}

func (e *edge) addMessages(g *api.TagGroup) {
	api.ListBy(g, api.Operation{
		Path: "/sms-messages", ID: "listSMSMessages", Needs: rights.Read,
		Summary: "List text messages", Description: "Lists text messages, newest first.", Example: messageExample(),
	}, api.Plural{Member: "sms_messages", Schema: "SMSMessageList"}, e.listMessages, newMessage)
	detail := messageExample()
	detail["attempts"] = []any{map[string]any{"number": 1, "provider": "twilio", "outcome": "sent", "status_code": 201,
		"error": nil, "started_at": "2026-01-15T09:30:01.000Z", "finished_at": "2026-01-15T09:30:02.000Z"}}
	api.Get(g, api.Operation{
		Path: "/sms-messages/{id}", ID: "getSMSMessage", Needs: rights.Read,
		Summary: "Retrieve a text message", Description: "Returns a text message with its attempts.",
		Example: map[string]any{"sms_message": detail}, Of: message,
	}, e.sms.Get, newDetail)
}

func (e *edge) listMessages(ctx context.Context, c *api.Call, in *query) (page.Page[*ent.SMSMessage], error) {
	return e.sms.List(ctx, c.AccountID, sms.Filter{Request: in.Request(), Status: in.Status,
		To: api.QueryAddress(in.To), AutomationID: in.AutomationID, RunID: in.RunID})
}

func newMessage(m *ent.SMSMessage) SMSMessage {
	out := SMSMessage{ID: m.ID, To: m.To, Country: m.Region, From: wire.OrNull(m.From), Text: m.Text,
		Encoding: string(m.Encoding), Segments: m.Segments, Status: string(m.Status),
		ErrorCode: wire.OrNull(m.ErrorCode), Error: wire.OrNull(m.Error), Provider: wire.OrNull(m.Provider),
		ProviderID: wire.OrNull(m.ProviderID), AutomationID: m.AutomationID, RunID: m.RunID,
		CreatedAt: wire.Time(m.CreatedAt), SentAt: wire.OptionalTime{At: m.SentAt},
		NextAt: wire.OptionalTime{At: m.DueAt}}
	return out
}

func newDetail(s sms.StoredMessage) messageAnswer {
	return messageAnswer{smsMessageDetail{SMSMessage: newMessage(s.SMSMessage),
		Attempts: wire.ListOf(s.Attempts, newAttempt)}}
}

func newAttempt(a *ent.SMSAttempt) smsAttempt {
	return smsAttempt{Number: a.Number, Provider: a.Provider, Outcome: (*string)(a.Outcome), StatusCode: a.StatusCode,
		Error: wire.OrNull(a.Error), StartedAt: wire.Time(a.StartedAt),
		FinishedAt: wire.OptionalTime{At: a.FinishedAt}}
}

func messageExample() map[string]any {
	return map[string]any{"id": "sms_01kf0m4w7he6x8q2v5b3n9c1ta", "to": "+4915112345678", "country": "DE", "from": nil,
		"text": "Invoice 7 is open.", "encoding": "gsm7", "segments": 1, "status": "sent",
		"error_code": nil, "error": nil, "provider": "twilio", "provider_id": "SM0123456789abcdef0123456789abcdef",
		"automation_id": "aut_01kf0m4w7he6x8q2v5b3n9c1ta", "run_id": "run_01kf0m4w7he6x8q2v5b3n9c1ta",
		"created_at": "2026-01-15T09:30:00.000Z", "sent_at": "2026-01-15T09:30:02.000Z", "next_at": nil}
}

package event

// Inbound is the payload of email.received.
type Inbound struct {
	EmailID         string           `json:"email_id" doc:"ID of the received email: inb_…"`
	To              []string         `json:"to" nullable:"false" doc:"The recipients in the To header of the message."`
	From            string           `json:"from" doc:"The From header of the message."`
	Subject         string           `json:"subject"`
	Status          string           `json:"status" doc:"received."`
	RcptTo          string           `json:"rcpt_to" doc:"The envelope recipient: which of your addresses it came to."`
	CC              []string         `json:"cc" nullable:"false"`
	MessageID       string           `json:"message_id" doc:"The message ID without angle brackets; empty if there is none."`
	InReplyTo       *string          `json:"in_reply_to" doc:"The Message-ID that the email replies to; null if it is not a reply."`
	References      []string         `json:"references" nullable:"false"`
	SpamStatus      string           `json:"spam_status" doc:"ham, spam or unknown."`
	AttachmentCount int              `json:"attachment_count"`
	Attachments     []AttachmentInfo `json:"attachments" nullable:"false" doc:"The files, without their data."`
	ReceivedAt      Time             `json:"received_at"`
}

// AttachmentInfo describes a file without its bytes.
type AttachmentInfo struct {
	Filename    string `json:"filename"`
	ContentType string `json:"content_type"`
	Size        int    `json:"size" doc:"Octets, decoded."`
}

// SubjectID returns the received email.
func (i Inbound) SubjectID() string { return i.EmailID }

func sampleInbound() Inbound {
	answered := "msg_01kf0m4w7he6x8q2v5b3n9c1ta@example.com"
	return Inbound{EmailID: "inb_01kf0m4w7he6x8q2v5b3n9c1ta", To: []string{"support@example.com"},
		From:    "Bob <bob@example.net>",
		Subject: "Re: Your receipt", Status: "received", RcptTo: "support@example.com", CC: []string{},
		MessageID: "20260115093000.1042@example.net",
		InReplyTo: &answered, References: []string{answered}, SpamStatus: "ham", AttachmentCount: 1,
		Attachments: []AttachmentInfo{{Filename: "invoice.pdf", ContentType: "application/pdf", Size: 48213}},
		ReceivedAt:  At(sampleTime)}
}

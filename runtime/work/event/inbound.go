package event

// Inbound is the payload of email.received.
type Inbound struct {
	EmailID         string           `json:"email_id" doc:"The ID of the received email, which starts with inb_."`
	To              []string         `json:"to" nullable:"false" doc:"The recipients in the To header of the message."`
	From            string           `json:"from" doc:"The From header of the message."`
	Subject         string           `json:"subject" doc:"The subject."`
	Status          string           `json:"status" doc:"received."`
	RcptTo          string           `json:"rcpt_to" doc:"The envelope recipient: which of your addresses it came to."`
	CC              []string         `json:"cc" nullable:"false" doc:"The addresses in the Cc header field."`
	MessageID       string           `json:"message_id" doc:"The message ID without angle brackets; empty if there is none."`
	InReplyTo       *string          `json:"in_reply_to" doc:"The Message-ID that the email replies to; null if it is not a reply."`
	References      []string         `json:"references" nullable:"false" doc:"The Message-IDs of the thread, oldest first."`
	SpamStatus      string           `json:"spam_status" doc:"ham, spam or unknown."`
	AttachmentCount int              `json:"attachment_count" doc:"The number of attachments."`
	Attachments     []AttachmentInfo `json:"attachments" nullable:"false" doc:"The files, without their data."`
	ReceivedAt      Time             `json:"received_at" doc:"When the email was received."`
}

// AttachmentInfo describes a file without its bytes.
type AttachmentInfo struct {
	Filename    string `json:"filename" doc:"The file name of the attachment."`
	ContentType string `json:"content_type" doc:"The media type of the attachment."`
	Size        int    `json:"size" doc:"Size of the decoded attachment in bytes."`
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
		ReceivedAt:  NewTime(sampleTime)}
}

package event

// Inbound is the payload of email.received.
type Inbound struct {
	EmailID         string           `json:"email_id"` // inb_…
	To              []string         `json:"to"`
	From            string           `json:"from"`
	Subject         string           `json:"subject"`
	Status          string           `json:"status"`  // received
	RcptTo          string           `json:"rcpt_to"` // the envelope recipient
	CC              []string         `json:"cc"`
	MessageID       string           `json:"message_id"`
	InReplyTo       *string          `json:"in_reply_to"`
	References      []string         `json:"references"`
	SpamStatus      string           `json:"spam_status"` // ham, spam, unknown
	AttachmentCount int              `json:"attachment_count"`
	Attachments     []AttachmentInfo `json:"attachments"`
	ReceivedAt      Time             `json:"received_at"`
}

// AttachmentInfo describes a file without its bytes.
type AttachmentInfo struct {
	Filename    string `json:"filename"`
	ContentType string `json:"content_type"`
	Size        int    `json:"size"` // octets, decoded
}

// SubjectID is the received email.
func (i Inbound) SubjectID() string { return i.EmailID }

func sampleInbound() Inbound {
	answered := "msg_01kf0m4w7he6x8q2v5b3n9c1ta@example.com"
	return Inbound{EmailID: "inb_01kf0m4w7he6x8q2v5b3n9c1ta", To: []string{"support@example.com"}, From: "Bob <bob@example.net>",
		Subject: "Re: Your receipt", Status: "received", RcptTo: "support@example.com", CC: []string{}, MessageID: "20260115093000.1042@example.net",
		InReplyTo: &answered, References: []string{answered}, SpamStatus: "ham", AttachmentCount: 1,
		Attachments: []AttachmentInfo{{Filename: "invoice.pdf", ContentType: "application/pdf", Size: 48213}}, ReceivedAt: At(sampleTime)}
}

package emails

func emailExample() map[string]any {
	return map[string]any{
		"id": "msg_01kf0m4w7he6x8q2v5b3n9c1ta", "from": "Ada <ada@example.com>", "to": []any{"bob@example.net"}, "cc": []any{}, "bcc": []any{}, "reply_to": []any{},
		"subject": "Your receipt", "status": "delivered", "last_event": "email.delivered", "bounce_reason": nil,
		"tags":         []any{map[string]any{"name": "kind", "value": "receipt"}},
		"scheduled_at": nil, "expires_at": nil, "cancelled_at": nil, "created_at": "2026-01-15T09:30:00.000Z", "sent_at": "2026-01-15T09:30:00.000Z",
		"delivered_at": "2026-01-15T09:30:01.250Z", "bounced_at": nil,
	}
}

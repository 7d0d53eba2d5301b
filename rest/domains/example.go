package domains

func domainExample() map[string]any {
	record := func(purpose, kind, name, value string, required bool) map[string]any {
		return map[string]any{"purpose": purpose, "type": kind, "name": name, "value": value, "ttl": 3600,
			"required": required,
			"status":   "verified", "found": []any{value}, "error": nil}
	}
	return map[string]any{
		"id": "dom_01kf0m4w7he6x8q2v5b3n9c1ta", "name": "example.com", "status": "verified",
		"records": []any{
			record("ownership", "TXT", "_service.example.com", "postrider-verification=6f1d2c", true),
			record("return_path", "CNAME", "rp.example.com", "rp.mail.example.org", true),
		},
		"open_tracking": false, "click_tracking": false, "tls_mode": "opportunistic", "inbound_enabled": false, "mta_sts": "off", "bimi_logo_url": nil, "bimi_certificate_url": nil,
		"dkim": map[string]any{"selector": "pr1", "algorithm": "rsa-sha256", "ready": true},
		"dkim_keys": []any{map[string]any{"selector": "pr1", "algorithm": "rsa-sha256", "status": "active", "ready": true,
			"created_at": "2026-01-15T09:30:00.000Z", "activated_at": "2026-01-15T09:30:00.000Z", "retired_at": nil, "keep_until": nil}},
		"last_checked_at": "2026-01-15T09:35:00.000Z", "verified_at": "2026-01-15T09:35:00.000Z",
		"created_at": "2026-01-15T09:30:00.000Z", "updated_at": "2026-01-15T09:35:00.000Z",
	}
}

func claimExample(completed bool) map[string]any {
	claim := map[string]any{
		"id": "clm_01kf0m4w7he6x8q2v5b3n9c1ta", "name": "example.com", "status": "pending",
		"record": map[string]any{"type": "TXT", "name": "_service.example.com", "value": "postrider-claim=0123456789abcdef0123456789abcdef01234567"},
		"error":  nil, "expires_at": "2026-01-22T09:30:00.000Z", "created_at": "2026-01-15T09:30:00.000Z", "last_checked_at": nil, "completed_at": nil,
	}
	if completed {
		claim["status"], claim["last_checked_at"], claim["completed_at"] = "completed", "2026-01-15T09:40:00.000Z",
			"2026-01-15T09:40:00.000Z"
	}
	return claim
}

const zoneExample = "; DNS records of example.com for sending with Postrider.\n" +
	"_service.example.com.\t3600\tIN\tTXT\t\"postrider-verification=6f1d2c\"\n" +
	"rp.example.com.\t3600\tIN\tCNAME\trp.mail.example.org.\n"

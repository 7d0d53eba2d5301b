export const hints = ['from:bob@example.net', 'to:support@', 'subject:invoice', 'domain:example.com', 'after:2026-01-31', 'before:2026-12-31']

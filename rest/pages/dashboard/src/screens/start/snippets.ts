export interface Sample {
  url: string // of the API, without /api
  key: string
  from: string
  to: string
  smtp?: { host: string; port: number; tls: string; username: string; password?: string; selfSigned: boolean } // unknown as long as there is no credential
}

export type Language = 'curl' | 'node' | 'python' | 'go' | 'php' | 'smtp'

export const languages: { key: Language; name: string }[] = [
  { key: 'curl', name: 'curl' },
  { key: 'node', name: 'Node.js' },
  { key: 'python', name: 'Python' },
  { key: 'go', name: 'Go' },
  { key: 'php', name: 'PHP' },
  { key: 'smtp', name: 'SMTP' },
]

// snippet returns a complete program that sends one email with only the language's standard library.
export function snippet(language: Language, s: Sample): string {
  switch (language) {
    case 'curl':
      return `curl ${s.url}/api/emails \\
  -H 'Authorization: Bearer ${s.key}' \\
  -H 'Content-Type: application/json' \\
  -d '{
    "from": "${s.from}",
    "to": ["${s.to}"],
    "subject": "Hello from Postrider",
    "html": "<h1>It works</h1><p>Your first email.</p>"
  }'`
    case 'node':
      return `const response = await fetch('${s.url}/api/emails', {
  method: 'POST',
  headers: {
    Authorization: 'Bearer ${s.key}',
    'Content-Type': 'application/json',
  },
  body: JSON.stringify({
    from: '${s.from}',
    to: ['${s.to}'],
    subject: 'Hello from Postrider',
    html: '<h1>It works</h1><p>Your first email.</p>',
  }),
})
console.log(response.status, await response.json())`
    case 'python':
      return `import json
import urllib.request

request = urllib.request.Request(
    "${s.url}/api/emails",
    headers={
        "Authorization": "Bearer ${s.key}",
        "Content-Type": "application/json",
    },
    data=json.dumps({
        "from": "${s.from}",
        "to": ["${s.to}"],
        "subject": "Hello from Postrider",
        "html": "<h1>It works</h1><p>Your first email.</p>",
    }).encode(),
)
with urllib.request.urlopen(request) as response:
    print(response.status, json.load(response))`
    case 'go':
      return `package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
)

func main() {
	body := \`{"from": "${s.from}", "to": ["${s.to}"],
		"subject": "Hello from Postrider", "html": "<h1>It works</h1><p>Your first email.</p>"}\`
	request, err := http.NewRequest(http.MethodPost, "${s.url}/api/emails", strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer ${s.key}")
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(response.Body)
	fmt.Println(response.Status, string(answer))
}`
    case 'php':
      return `<?php
$context = stream_context_create(['http' => [
    'method' => 'POST',
    'header' => "Authorization: Bearer ${s.key}\\r\\nContent-Type: application/json",
    'content' => json_encode([
        'from' => '${s.from}',
        'to' => ['${s.to}'],
        'subject' => 'Hello from Postrider',
        'html' => '<h1>It works</h1><p>Your first email.</p>',
    ]),
    'ignore_errors' => true,
]]);
echo file_get_contents('${s.url}/api/emails', false, $context);`
    case 'smtp':
      return `curl ${smtpFlags(s)} \\
  --user '${s.smtp?.username ?? 'postrider'}:${s.smtp?.password ?? 'svs_…'}' \\
  --mail-from '${s.from}' --mail-rcpt '${s.to}' \\
  -T - <<'END'
From: ${s.from}
To: ${s.to}
Subject: Hello from Postrider

It works. Your first email.
END`
  }
}

// smtpFlags returns curl's flags for the relay: implicit TLS, or STARTTLS and not without it.
function smtpFlags({ smtp }: Sample): string {
  if (!smtp) return '--ssl-reqd "smtp://$SMTP_HOST:$SMTP_PORT"'
  const scheme = smtp.tls.toLowerCase() === 'implicit' ? 'smtps' : 'smtp'
  return `${scheme === 'smtp' ? '--ssl-reqd ' : ''}${smtp.selfSigned ? '--insecure ' : ''}${scheme}://${smtp.host}:${smtp.port}`
}

// keyName is the environment variable of the API key in every snippet.
export const keyName = 'POSTRIDER_API_KEY'

export interface Request {
  path: string // below /api
  body?: Record<string, Value>
}

type Value = string | string[] | Record<string, string>

export interface Mail extends Record<string, Value> {
  from: string
  to: string[]
  subject: string
}

// Relay is the address of the SMTP relay, which each SMTP credential contains.
export interface Relay {
  host: string
  port: number
  tls: string
  username: string
  selfSigned: boolean
}

export type Language = 'curl' | 'node' | 'python' | 'go' | 'php' | 'ruby' | 'resend' | 'smtp'

export const languages: { key: Language; name: string; run: string }[] = [
  { key: 'curl', name: 'curl', run: 'sh' },
  { key: 'node', name: 'Node.js', run: 'node send.mjs' },
  { key: 'python', name: 'Python', run: 'python3 send.py' },
  { key: 'go', name: 'Go', run: 'go run send.go' },
  { key: 'php', name: 'PHP', run: 'php send.php' },
  { key: 'ruby', name: 'Ruby', run: 'ruby send.rb' },
  { key: 'resend', name: 'Resend SDK', run: 'node send.mjs' },
  { key: 'smtp', name: 'SMTP', run: 'sh' },
]

// exportKey returns the line that sets the key in a shell.
export const exportKey = (key: string) => `export ${keyName}=${key}`

// snippet returns a complete program that makes a request with only the language's standard library, except for the
// Resend SDK. The key comes from the environment.
export function snippet(language: Exclude<Language, 'smtp'>, origin: string, r: Request): string {
  const url = `${origin}/api${r.path}`
  const json = r.body && jsonLiteral(r.body, 2)
  switch (language) {
    case 'curl':
      return [`curl ${url}`, `-H "Authorization: Bearer $${keyName}"`, ...(json ? [`-H 'Content-Type: application/json'`, `-d '${indent(json, 2).replaceAll("'", `'\\''`)}'`] : [])].join(' \\\n  ')
    case 'node':
      return `const response = await fetch('${url}', {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${process.env.${keyName}}\`,
    'Content-Type': 'application/json',
  },
  body: JSON.stringify(${indent(json ?? '{}', 2)}),
})
console.log(response.status, await response.json())`
    case 'python':
      return `import json
import os
import urllib.request

request = urllib.request.Request(
    "${url}",
    headers={
        "Authorization": "Bearer " + os.environ["${keyName}"],
        "Content-Type": "application/json",
    },
    data=json.dumps(${indent(jsonLiteral(r.body ?? {}, 4), 4)}).encode(),
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
	"os"
	"strings"
)

func main() {
	body := \`${indent(jsonLiteral(r.body ?? {}, '\t'), 1, '\t')}\`
	request, err := http.NewRequest(http.MethodPost, "${url}", strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("${keyName}"))
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
    'header' => "Authorization: Bearer " . getenv('${keyName}') . "\\r\\nContent-Type: application/json",
    'content' => json_encode(${indent(phpLiteral(r.body ?? {}), 4)}),
    'ignore_errors' => true,
]]);
echo file_get_contents('${url}', false, $context);`
    case 'ruby':
      return `require "json"
require "net/http"

response = Net::HTTP.post(
  URI("${url}"),
  JSON.generate(${indent(jsonLiteral(r.body ?? {}, 2), 2)}),
  "Authorization" => "Bearer #{ENV.fetch("${keyName}")}",
  "Content-Type" => "application/json",
)
puts response.code, response.body`
    case 'resend':
      return `// npm install resend
import { Resend } from 'resend'

const resend = new Resend(process.env.${keyName}, { baseUrl: '${origin}/resend' })
const { data, error } = await resend.emails.send(${json ?? '{}'})
console.log(data ?? error)`
  }
}

// smtpSnippet returns the command that submits an email to the relay with curl. The relay accepts an API key, or the
// password of an SMTP credential.
export function smtpSnippet(mail: Mail, relay: Relay): string {
  return `curl ${smtpFlags(relay)} --crlf \\
  --user "${relay.username}:$${keyName}" \\
  --mail-from '${mail.from}' --mail-rcpt '${mail.to[0]}' \\
  --upload-file - <<'END'
From: ${mail.from}
To: ${mail.to[0]}
Subject: ${mail.subject}

It works. Your first email.
END`
}

// smtpFlags returns curl's flags for the relay: implicit TLS, or required STARTTLS.
function smtpFlags(relay: Relay): string {
  const scheme = relay.tls.toLowerCase() === 'implicit' ? 'smtps' : 'smtp'
  return `${scheme === 'smtp' ? '--ssl-reqd ' : ''}${relay.selfSigned ? '--insecure ' : ''}${scheme}://${relay.host}:${relay.port}`
}

// jsonLiteral keeps short lists on one line.
const jsonLiteral = (body: object, by: number | string) => JSON.stringify(body, null, by).replaceAll(/\[\s+("[^"]*")\s+\]/g, '[$1]')

const indent = (text: string, by: number, unit = ' ') => text.replaceAll('\n', `\n${unit.repeat(by)}`)

function phpLiteral(value: Value | Record<string, Value>): string {
  if (typeof value === 'string') return `'${value.replace(/['\\]/g, '\\$&')}'`
  const parts = Array.isArray(value) ? value.map((v) => phpLiteral(v)) : Object.entries(value).map(([k, v]) => `${phpLiteral(k)} => ${phpLiteral(v)}`)
  return Array.isArray(value) ? `[${parts.join(', ')}]` : `[\n    ${parts.map((p) => indent(p, 4)).join(',\n    ')},\n]`
}

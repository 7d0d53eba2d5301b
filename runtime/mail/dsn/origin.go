package dsn

import (
	stdmime "mime"
	"regexp"
	"strings"

	"github.com/postrider/postrider/runtime/mail/message"
)

// origin is what the header reveals about the sender.
type origin struct {
	daemon    bool // a mail system, judging by its name
	null      bool // the null return path
	bounce    bool // the subject of a delivery report
	failed    bool // X-Failed-Recipients
	automatic bool // a program or a mailing list
	replied   bool // a program, in reply to a message
	reply     bool // certain: a field or subject that only automatic replies have
	answers   bool // refers to an earlier message
	forwarded bool // a person passed it on
}

// isReporter reports whether a mail system may have written the message. Its text decides then.
func (o origin) isReporter() bool { return o.daemon || o.null || o.bounce || o.failed }

// isPersonal reports whether the message is an automatic reply on a person's behalf.
func (o origin) isPersonal() bool {
	return !o.daemon && (o.reply || o.replied && !o.bounce && !o.failed)
}

var (
	daemonName = regexp.MustCompile(`(?i)^"?(?:mailer-?daemon|mail-?daemon|postmaster|microsoftexchange[0-9a-f]*|mdaemon|mail-?delivery|mail-?system|mail delivery|mailadmin|mail administrator|no-?reply-?bounce|system administrator|internet mail delivery)`)
	daemonText = regexp.MustCompile(`(?i)mail delivery (?:sub)?system|mail delivery service|postmaster|mailer-daemon|mail administrator|system administrator`)

	// "Forwarded" as mail programs abbreviate it.
	forwardSubject = regexp.MustCompile(`^(?:fwd?|wg|tr|rv|enc|doorst|vs|vb|pd|i|пересл|переслано|转发|轉寄|転送)\s?[:：]`)

	bounceSubject = regexp.MustCompile(`^(?:\[[^\]]*\] )?(?:undeliver|undelivered|delivery (?:status )?notification|delivery (?:failure|failed|report|error|delayed|problem|has failed)|` +
		`failure notice|failed mail|mail (?:delivery )?(?:failed|failure|error|undeliverable|system error)|returned mail|returned to sender|message (?:not delivered|undeliverable|delayed|delivery)|` +
		`nondeliverable|non.?delivery|unzustellbar|mail could not be delivered|mail not delivered|your message could not be delivered|your mail .* could not be delivered|` +
		`successful mail delivery|warning: (?:could not send|message|e-?mail)|delayed mail|permanent (?:delivery )?failure|email (?:not delivered|delivery failure)|` +
		`(?:échec|non remis)|no se puede entregar|no se pudo entregar|onbestelbaar|rejected mail|bounced? (?:mail|message)|unable to deliver|sorry, your message|address not found|couldn't deliver)`)

	autoSubject = regexp.MustCompile(`^(?:(?:re|aw|sv|antw|tr|rv)\s?: )*\[?(?:auto(?:matic|mated|matische|matisk|matisch)?[ -]?(?:reply|response|respond(?:er)?|antwort|antwoord|svar)|autoreply|autoresponder|` +
		`out[ -]of[ -](?:the[ -])?office|away from (?:the |my )?(?:office|mail|e-?mail)|on (?:annual )?(?:leave|vacation|holiday)\b|i am (?:away|on vacation|out of)|vacation (?:reply|response|message|notice)|` +
		`abwesenheit|abwesend|afwezig|réponse automatique|absence du bureau|message d'absence|respuesta automática|fuera de (?:la )?oficina|risposta automatica|fuori (?:sede|ufficio)|` +
		`resposta automática|fora do escritório|automaattinen|autosvar|frånvaro|odpowiedź automatyczna|autoodpowiedź|automatická odpověď|автоответ|автоматический ответ|` +
		`自动回复|自動回覆|自動返信|自動応答|otomatik yanıt|αυτόματη απάντηση)`)
)

func originOf(m *message.FullMessage, subject string) origin {
	var o origin
	for _, from := range m.Authors {
		local, _, _ := strings.Cut(from.Address, "@")
		o.daemon = o.daemon || daemonName.MatchString(local) || daemonText.MatchString(from.Name)
	}
	path := strings.Join(strings.Fields(m.Get("Return-Path")), "")
	o.null = path == "<>"
	o.bounce = bounceSubject.MatchString(subject)
	o.forwarded = path != "<>" && (forwardSubject.MatchString(subject) || m.Get("Resent-From") != "" ||
		m.Get("Resent-Sender") != "")
	o.failed = m.Get("X-Failed-Recipients") != ""
	o.answers = m.InReplyTo != nil || len(m.References) > 0
	get := func(name string) string { return strings.ToLower(strings.TrimSpace(m.Get(name))) }
	submitted := autoSubmitted(get("Auto-Submitted"))
	precedence := get("Precedence")
	o.reply = autoSubject.MatchString(subject) || strings.Contains(get("Delivered-To"), "autoresponder") ||
		strings.Contains(get("X-POST-MessageClass"), "autoresponder") || get("X-FC-MachineGenerated") == "true"
	for _, name := range []string{"X-Autoreply", "X-Auto-Reply", "X-Autoreply-From", "X-Mail-Autoreply",
		"X-Autorespond", "X-Autoresponder", "X-Auto-Response", "X-Vacation"} {
		if v := get(name); v != "" && v != "no" && v != "false" {
			o.reply = true
		}
	}
	for _, v := range []string{precedence, get("Preference")} { // some systems use Preference
		o.reply = o.reply || v == "auto_reply" || v == "auto-reply" || v == "autoreply"
	}
	o.replied = o.reply || submitted == "auto-replied" || submitted == "auto-replied-vacation"
	o.automatic = o.replied || o.null || o.daemon || o.failed || submitted != "" && submitted != "no" ||
		precedence == "bulk" || precedence == "junk" || precedence == "list" || get("List-Id") != "" ||
		get("X-Auto-Response-Suppress") != ""
	return o
}

// autoSubmitted returns the keyword of RFC 3834, 5, without parameters and comments.
func autoSubmitted(s string) string {
	if i := strings.IndexAny(s, "; (\t"); i >= 0 {
		return s[:i]
	}
	return s
}

// reportType returns the parameter of multipart/report, or "report" if it is missing.
func reportType(contentType string) string {
	mediaType, params, err := stdmime.ParseMediaType(contentType[:min(len(contentType), 2000)])
	if err != nil {
		mediaType = squeezeSpace(contentType)
	}
	if !strings.HasPrefix(mediaType, "multipart/report") {
		return ""
	}
	if kind := strings.ToLower(params["report-type"]); kind != "" {
		return kind
	}
	return "report"
}

// challenge matches texts of programs that require senders to prove that they are human.
var challenge = regexp.MustCompile(`spam ?arrest|boxbe|\btmda\b|challenge[ /-]response|sender (?:verification|confirmation)|(?:verify|confirm|prove) (?:that )?you(?:'re| are) (?:a |not a )?(?:real |live )?(?:human|person|robot|spammer|machine)|` +
	`(?:held|waiting|quarantined|queued)[^.]{0,80}(?:until|unless|pending) (?:you|your) |(?:reply to|click|follow|visit)[^.]{0,80}(?:so that|to have|in order to|to) (?:your message|your e-?mail|deliver(?:y of)? your)|one-time (?:verification|confirmation)|added to (?:my|the) (?:guest|approved|allowed) (?:list|senders)`)

// isChallenge requires that the message is a reply, because many newsletters contain the same words.
func (e *reportParser) isChallenge() bool {
	return (e.origin.replied || e.origin.null || e.origin.answers && e.origin.automatic ||
		strings.HasPrefix(e.subject, "re: ") && e.origin.automatic) &&
		challenge.MatchString(e.subject+" . "+squeezeLong(e.text))
}

// squeezeLong is squeezeSpace for the text of a message.
func squeezeLong(s string) string {
	s = s[:min(len(s), 16<<10)]
	return strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(s, "’", "'")), " "))
}

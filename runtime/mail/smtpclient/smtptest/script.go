package smtptest

// Phase is a step of a session that can be scripted.
type Phase int

// The phases. Greeting, Starttls and Data can be scripted in plaintext only, and end the connection if they
// reject. Body is while the message arrives; Dot is after the message is complete and recorded, before its
// reply.
const (
	Greeting Phase = iota + 1
	Starttls
	EHLO
	Auth
	Mail
	Rcpt
	Data
	Body
	Dot
)

// Action is what happens instead of success.
type Action struct {
	code     int
	enhanced [3]int
	text     string
	raw      string
	hangUp   bool
	stall    bool
}

// Reply replies with a code, an enhanced code such as "5.1.1" ("" for none) and a text; line feeds in the
// text create additional lines.
func Reply(code int, enhanced, text string) Action {
	a := Action{code: code, text: text, enhanced: [3]int{-1, -1, -1}}
	if len(enhanced) >= 5 {
		a.enhanced = parseEnhanced(enhanced)
	}
	return a
}

// ReplyAndHangUp replies and then closes the connection.
func ReplyAndHangUp(code int, enhanced, text string) Action {
	a := Reply(code, enhanced, text)
	a.hangUp = true
	return a
}

// Raw writes bytes unchanged, in plaintext: Greeting, Starttls and Data only.
func Raw(octets string) Action { return Action{raw: octets} }

// Disconnect closes the connection without a reply.
func Disconnect() Action { return Action{hangUp: true} }

// Stall does not respond until Release or the end of the test, then closes the connection.
func Stall() Action { return Action{stall: true} }

// step is a phase and its recipient ("" for any).
type step struct {
	phase     Phase
	recipient string
}

// On scripts the next occurrences of a phase, one action each; recipient "" is any.
// Phases after Rcpt belong to the first recipient of their message.
func (s *Server) On(phase Phase, recipient string, actions ...Action) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := step{phase, recipient}
	s.once[at] = append(s.once[at], actions...)
}

// Always scripts every occurrence of a phase from now on.
func (s *Server) Always(phase Phase, recipient string, a Action) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.always[step{phase, recipient}] = a
}

// nextAction returns the action for a phase, if one is scripted.
func (s *Server) nextAction(phase Phase, recipient string) (Action, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	steps := []step{{phase, recipient}, {phase, ""}}
	for _, at := range steps {
		if queue := s.once[at]; len(queue) > 0 {
			s.once[at] = queue[1:]
			return queue[0], true
		}
	}
	for _, at := range steps {
		if a, ok := s.always[at]; ok {
			return a, true
		}
	}
	return Action{}, false
}

func parseEnhanced(s string) (code [3]int) {
	part := 0
	for _, c := range s {
		switch {
		case c == '.' && part < 2:
			part++
		case c >= '0' && c <= '9':
			code[part] = code[part]*10 + int(c-'0')
		}
	}
	return code
}

package bounce

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestReplies classifies replies of real receivers.
func TestReplies(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/replies.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[Class]int{}
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		none := func(s string) string { return strings.TrimPrefix(s, "-") }
		code, _ := strconv.Atoi(fields[1])
		reply := Reply{Code: code, Enhanced: none(fields[2]), Text: none(strings.Join(fields[3:], " "))}
		class, row := decideClass(reply)
		if string(class) != fields[0] {
			t.Errorf("%s is %s by row %q, want %s", strings.TrimSpace(line), class, row, fields[0])
		}
		if Classify(Reply{Code: code, Enhanced: reply.Enhanced, Text: strings.ToUpper(reply.Text)}) != class {
			t.Errorf("%s: upper case changes the class", strings.TrimSpace(line))
		}
		seen[class]++
	}
	for _, class := range Classes {
		if seen[class] == 0 {
			t.Errorf("no reply of class %s", class)
		}
	}
}

// TestEveryRowDecides finds duplicate rows and rows that are hidden by another one.
func TestEveryRowDecides(t *testing.T) {
	t.Parallel()
	check := func(r Reply, class Class, row string) {
		t.Helper()
		if gotClass, gotRow := decideClass(r); gotClass != class || gotRow != row {
			t.Errorf("%+v: class %s by row %q, want %s by %q", r, gotClass, gotRow, class, row)
		}
	}
	for _, p := range phrases {
		enhanced := ""
		if p.code != "" {
			enhanced = "5." + p.code
		}
		check(Reply{Code: 550, Enhanced: enhanced, Text: "550 " + p.text}, p.class, p.text)
	}
	for _, w := range words {
		check(Reply{Code: 554, Text: "554 " + w.text}, w.class, w.text)
		check(Reply{Code: 550, Enhanced: "5.0.0", Text: w.text}, w.class, w.text)
	}
	for _, e := range enhancedCodes {
		code := strings.Replace(e.code, "*", "99", 1)
		permanent, temporary := 550, 450
		if e.code == "0.*" || e.code == "3.0" {
			permanent, temporary = 0, 0 // the reply code is more specific
		}
		check(Reply{Code: permanent, Enhanced: "5." + code}, e.class, e.code)
		check(Reply{Code: temporary, Enhanced: "4." + code, Text: "450 4." + code + " no"}, e.class, e.code)
		if e.vague {
			check(Reply{Enhanced: "5." + code, Text: "message too large"}, Size, "too large")
		} else {
			check(Reply{Enhanced: "5." + code, Text: "user unknown, message too large"}, e.class, e.code)
		}
		if e.name == "" {
			t.Errorf("%s has no name", e.code)
		}
	}
	for _, b := range basicCodes {
		code := b.code
		if code == 4 || code == 5 {
			code = code*100 + 99
		}
		check(Reply{Code: code, Text: "no"}, b.class, strconv.Itoa(b.code))
	}
}

func TestRowsAreUniqueAndNormalized(t *testing.T) {
	t.Parallel()
	var all []string
	for _, p := range phrases {
		all = append(all, p.text+"|"+p.code)
	}
	for _, w := range words {
		all = append(all, w.text+"|")
	}
	for _, e := range enhancedCodes {
		all = append(all, e.code)
	}
	for _, b := range basicCodes {
		all = append(all, strconv.Itoa(b.code))
	}
	seen := map[string]bool{}
	for _, row := range all {
		if seen[row] {
			t.Errorf("%q appears twice", row)
		}
		seen[row] = true
		if row != strings.ToLower(row) || strings.Contains(row, "  ") {
			t.Errorf("%q can never match", row)
		}
	}
}

func TestClassesDecideBouncesAndThrottling(t *testing.T) {
	t.Parallel()
	type follows struct{ bounces, throttles, hard, soft bool }
	for class, want := range map[Class]follows{
		BadAddress:  {bounces: true, hard: true},
		BadDomain:   {bounces: true, hard: true},
		MailboxFull: {bounces: true, soft: true},
		System:      {bounces: true, soft: true},
		Block:       {throttles: true},
		Throttle:    {throttles: true},
		Greylist:    {},
		Size:        {},
		Content:     {},
		Policy:      {},
		Challenge:   {},
		Unknown:     {},
	} {
		got := follows{class.Bounces(), class.Throttles(), class.IsHard(), class.IsSoft()}
		if got != want {
			t.Errorf("%s: %+v, want %+v", class, got, want)
		}
	}
}

// Replies about an address, a mailbox or a host are bounces, and so are unclassifiable replies.
func TestJudgeReportsBounces(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reply Reply
		want  bool
	}{
		"unknown user":                      {Reply{Code: 550, Enhanced: "5.1.1", Text: "550 5.1.1 User unknown"}, true},
		"null MX, by code":                  {Reply{Code: 556, Enhanced: "5.1.10", Text: ""}, true},
		"mailbox full":                      {Reply{Code: 552, Enhanced: "5.2.2", Text: ""}, true},
		"mailbox full, three days long":     {Reply{Code: 452, Enhanced: "4.2.2", Text: ""}, true},
		"mailbox disabled":                  {Reply{Code: 550, Enhanced: "5.2.1", Text: ""}, true},
		"no route":                          {Reply{Code: 550, Enhanced: "5.4.1", Text: ""}, true},
		"no server answered for three days": {Reply{Code: 0, Enhanced: "", Text: "dial tcp 192.0.2.1:25: i/o timeout"}, true},
		"busy for three days":               {Reply{Code: 421, Enhanced: "4.3.2", Text: ""}, true},
		"Outlook's unavailable mailbox":     {Reply{Code: 550, Enhanced: "5.5.0", Text: "550 5.5.0 Requested action not taken: mailbox unavailable"}, true},
		"message too big for the system":    {Reply{Code: 552, Enhanced: "5.3.4", Text: ""}, false},
		"message too big, tried for long":   {Reply{Code: 452, Enhanced: "4.3.4", Text: ""}, false},
		"message too long for the mailbox":  {Reply{Code: 552, Enhanced: "5.2.3", Text: ""}, false},
		"media not supported":               {Reply{Code: 554, Enhanced: "5.6.1", Text: ""}, false},
		"not ASCII":                         {Reply{Code: 553, Enhanced: "5.6.7", Text: ""}, false},
		"blocked by policy":                 {Reply{Code: 550, Enhanced: "5.7.1", Text: ""}, false},
		"policy, tried for long":            {Reply{Code: 451, Enhanced: "4.7.1", Text: "greylisted"}, false},
		"DMARC":                             {Reply{Code: 550, Enhanced: "5.7.26", Text: ""}, false},
		"sender's address":                  {Reply{Code: 550, Enhanced: "5.1.8", Text: ""}, false},
		"sender's syntax":                   {Reply{Code: 553, Enhanced: "5.1.7", Text: ""}, false},
		"too many recipients":               {Reply{Code: 452, Enhanced: "4.5.3", Text: ""}, false},
		"bare 550":                          {Reply{Code: 550, Enhanced: "", Text: "550 No"}, true},
		"bare 550, unknown":                 {Reply{Code: 550, Enhanced: "", Text: "550 No such user here"}, true},
		"bare 550, spam":                    {Reply{Code: 550, Enhanced: "", Text: "550 This looks like SPAM"}, false},
		"bare 550, unknown, then policy":    {Reply{Code: 550, Enhanced: "", Text: "550 User unknown. Read our policy"}, true},
		"bare 551":                          {Reply{Code: 551, Enhanced: "", Text: "551 User not local"}, true},
		"bare 552":                          {Reply{Code: 552, Enhanced: "", Text: "552 Aborted"}, true},
		"bare 552, size":                    {Reply{Code: 552, Enhanced: "", Text: "552 Message size exceeds fixed maximum"}, false},
		"bare 552, quota":                   {Reply{Code: 552, Enhanced: "", Text: "552 Requested mail action aborted: exceeded storage allocation"}, true},
		"bare 554":                          {Reply{Code: 554, Enhanced: "", Text: "554 Transaction failed"}, false},
		"bare 554, blocked":                 {Reply{Code: 554, Enhanced: "", Text: "554 Your IP is on a blocklist"}, false},
		"bare 554, unknown":                 {Reply{Code: 554, Enhanced: "", Text: "554 delivery error: this user does not exist"}, true},
		"bare 530":                          {Reply{Code: 530, Enhanced: "", Text: "530 Authentication required"}, false},
		"bare 500":                          {Reply{Code: 500, Enhanced: "", Text: "500 What?"}, true},
		"bare 452, quota":                   {Reply{Code: 452, Enhanced: "", Text: "452 Mailbox full"}, true},
		"broken enhanced code":              {Reply{Code: 550, Enhanced: "5", Text: "550 5 no such user"}, true},
	} {
		if got := Judge(c.reply).Bounces; got != c.want {
			t.Errorf("%s: of class %s, which bounces: %v, want %v", name, Classify(c.reply), got, c.want)
		}
	}
}

func FuzzClassify(f *testing.F) {
	f.Add(550, "5.1.1", "550 5.1.1 User unknown")
	f.Add(-7, "5..", "host a said: \xff<@<@>")
	f.Add(421, "4.0000.1", strings.Repeat("<", 5000))
	f.Fuzz(func(t *testing.T, code int, enhanced, text string) {
		class := Classify(Reply{Code: code, Enhanced: enhanced, Text: text})
		if !slices.Contains(Classes, class) {
			t.Errorf("class %q", class)
		}
	})
}

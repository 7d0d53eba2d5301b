package unsubscribe

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"

	"golang.org/x/text/language"
)

// languages are those that the pages speak. The first stands for all others.
var languages = []string{"en", "de", "fr", "es", "pt", "it", "nl", "pl", "ja"}

// words are what the pages say in one language: the file words/<language>.json. The values
// in braces are put in by page.say.
type words struct {
	Language string `json:"-"`

	ThisSender sentence `json:"this_sender"` // for {sender} when its name is not known

	TitleForm    sentence `json:"title_form"`
	Ask          sentence `json:"ask"`
	AskCategory  sentence `json:"ask_category"`  // {sender}, {email}
	AskAll       sentence `json:"ask_all"`       // {sender}, {email}
	StopCategory sentence `json:"stop_category"` // {category}
	StopAll      sentence `json:"stop_all"`
	StopAllFrom  sentence `json:"stop_all_from"` // {sender}
	Unchanged    sentence `json:"unchanged"`

	TitleDone    sentence `json:"title_done"`
	Done         sentence `json:"done"`
	DoneCategory sentence `json:"done_category"` // {email}, {category}, {sender}
	DoneAll      sentence `json:"done_all"`      // {email}, {sender}
	UnderWay     sentence `json:"under_way"`

	BadLink        sentence `json:"bad_link"`
	BadLinkAdvice  sentence `json:"bad_link_advice"`
	WrongWay       sentence `json:"wrong_way"`
	WrongWayAdvice sentence `json:"wrong_way_advice"`
	NothingChosen  sentence `json:"nothing_chosen"`
	Failed         sentence `json:"failed"`
	FailedAdvice   sentence `json:"failed_advice"`
}

//go:embed words/*.json
var wordFiles embed.FS

var (
	spoken  = loadWords()
	matcher = newMatcher()
)

// loadWords reads the words of each language, in the order of languages.
func loadWords() []*words {
	all := make([]*words, 0, len(languages))
	for _, name := range languages {
		text, err := wordFiles.ReadFile("words/" + name + ".json")
		w := &words{Language: name}
		if err == nil {
			decoder := json.NewDecoder(bytes.NewReader(text))
			decoder.DisallowUnknownFields()
			err = decoder.Decode(w)
		}
		if err != nil {
			panic(fmt.Sprintf("unsubscribe: words of %s: %v", name, err)) // the files are ours
		}
		all = append(all, w)
	}
	return all
}

func newMatcher() language.Matcher {
	tags := make([]language.Tag, 0, len(languages))
	for _, name := range languages {
		tags = append(tags, language.MustParse(name))
	}
	return language.NewMatcher(tags)
}

// maxAccept is how much of an Accept-Language field is believed, in octets. Browsers
// write less than 200.
const maxAccept = 1000

// wordsFor gives the words in the language that the values of Accept-Language prefer
// (RFC 9110, section 12.5.4). What cannot be read, and what none of the languages comes
// near, is answered in English.
func wordsFor(accept string) *words {
	if len(accept) > maxAccept {
		return spoken[0]
	}
	wanted, _, err := language.ParseAcceptLanguage(accept)
	if err != nil {
		return spoken[0]
	}
	_, best, confidence := matcher.Match(wanted...)
	if confidence == language.No {
		return spoken[0]
	}
	return spoken[best]
}

package unsubscribe

import (
	"embed"

	"github.com/postrider/postrider/runtime/web/theme"
)

// words are the texts of the pages in one language, from words/<language>.json. page.say replaces the values in
// braces.
type words struct {
	Language string `json:"-"`

	ThisSender sentence `json:"this_sender"` // for {sender} if its name is unknown

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

var spoken = loadWords()

func loadWords() map[string]*words {
	all := theme.LoadWords[words](wordFiles)
	for name, w := range all {
		w.Language = name
	}
	return all
}

// wordsFor returns the words in the language that the values of Accept-Language prefer.
func wordsFor(accept string) *words { return spoken[theme.MatchLanguage(accept)] }

package language

import "slices"

// datePatterns are the date and time formats of a language, from CLDR 46. The library golang.org/x/text has none.
// Letters in patterns are those of CLDR: EEEE is the day of the week, MMMM the name of the month.
type datePatterns struct {
	dates       [4]string // by style
	time        string
	join        string // between date and time
	longJoin    string // the same in the styles long and full; empty: join
	months      string // as in a date, separated by spaces
	shortMonths string
	days        string // from Sunday
	halves      string // of the day, for a clock of 12 hours
}

// numericPatterns are for languages without patterns of their own. They have no words (ISO 8601).
var numericPatterns = datePatterns{dates: [4]string{"y-MM-dd", "y-MM-dd", "y-MM-dd", "y-MM-dd"},
	time: "HH:mm", join: " "}

var patternsByLanguage = map[string]datePatterns{
	"en": {dates: [4]string{"M/d/yy", "MMM d, y", "MMMM d, y", "EEEE, MMMM d, y"}, time: "h:mm" + noBreakSpace + "a", join: ", ", longJoin: " at ",
		months:      "January February March April May June July August September October November December",
		shortMonths: "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
		days:        "Sunday Monday Tuesday Wednesday Thursday Friday Saturday", halves: "AM PM"},
	"de": {dates: [4]string{"dd.MM.yy", "dd.MM.y", "d. MMMM y", "EEEE, d. MMMM y"}, time: "HH:mm", join: ", ", longJoin: " um ",
		months:      "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
		shortMonths: "Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez.",
		days:        "Sonntag Montag Dienstag Mittwoch Donnerstag Freitag Samstag"},
	"fr": {dates: [4]string{"dd/MM/y", "d MMM y", "d MMMM y", "EEEE d MMMM y"}, time: "HH:mm", join: ", ", longJoin: " à ",
		months:      "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
		shortMonths: "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.",
		days:        "dimanche lundi mardi mercredi jeudi vendredi samedi"},
	"es": {dates: [4]string{"d/M/yy", "d MMM y", "d 'de' MMMM 'de' y", "EEEE, d 'de' MMMM 'de' y"}, time: "H:mm", join: ", ",
		months:      "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
		shortMonths: "ene feb mar abr may jun jul ago sept oct nov dic",
		days:        "domingo lunes martes miércoles jueves viernes sábado"},
	"pt": {dates: [4]string{"dd/MM/y", "d 'de' MMM 'de' y", "d 'de' MMMM 'de' y", "EEEE, d 'de' MMMM 'de' y"}, time: "HH:mm", join: ", ", longJoin: " às ",
		months:      "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
		shortMonths: "jan. fev. mar. abr. mai. jun. jul. ago. set. out. nov. dez.",
		days:        "domingo segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado"},
	"it": {dates: [4]string{"dd/MM/yy", "d MMM y", "d MMMM y", "EEEE d MMMM y"}, time: "HH:mm", join: ", ", longJoin: " alle ore ",
		months:      "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
		shortMonths: "gen feb mar apr mag giu lug ago set ott nov dic",
		days:        "domenica lunedì martedì mercoledì giovedì venerdì sabato"},
	"nl": {dates: [4]string{"dd-MM-y", "d MMM y", "d MMMM y", "EEEE d MMMM y"}, time: "HH:mm", join: " ", longJoin: " om ",
		months:      "januari februari maart april mei juni juli augustus september oktober november december",
		shortMonths: "jan feb mrt apr mei jun jul aug sep okt nov dec",
		days:        "zondag maandag dinsdag woensdag donderdag vrijdag zaterdag"},
	"pl": {dates: [4]string{"d.MM.y", "d MMM y", "d MMMM y", "EEEE, d MMMM y"}, time: "HH:mm", join: ", ", longJoin: " ",
		months:      "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
		shortMonths: "sty lut mar kwi maj cze lip sie wrz paź lis gru",
		days:        "niedziela poniedziałek wtorek środa czwartek piątek sobota"},
	"ja": {dates: [4]string{"y/MM/dd", "y/MM/dd", "y年M月d日", "y年M月d日EEEE"}, time: "H:mm", join: " ",
		days: "日曜日 月曜日 火曜日 水曜日 木曜日 金曜日 土曜日"},
}

// englishPatterns returns the patterns of English in a region. Most regions write the day first, and many have a clock
// of 12 hours.
func englishPatterns(region string) datePatterns {
	p := patternsByLanguage["en"]
	if slices.Contains([]string{"", "US", "PH", "PR", "GU", "VI"}, region) {
		return p
	}
	if region == "CA" {
		p.dates[0] = "y-MM-dd"
		return p
	}
	p.dates = [4]string{"dd/MM/y", "d MMM y", "d MMMM y", "EEEE d MMMM y"}
	if !slices.Contains([]string{"AU", "NZ", "IN", "HK", "SG", "MY", "PK"}, region) {
		p.time = "HH:mm"
	}
	return p
}

package language

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/currency"
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/message"
	"golang.org/x/text/number"
)

// maxNumber is the limit of the numbers that filters format. Larger ones have no exact fraction.
const maxNumber = 1e15

// maxFraction is how many digits after the decimal separator an author may ask for.
const maxFraction = 10

var (
	errNotNumber = errors.New("requires a number")
	errNumber    = errors.New("requires a number between -10^15 and 10^15")
	errFraction  = fmt.Errorf("requires a number of decimals from 0 to %d", maxFraction)
	errCurrency  = errors.New("requires an ISO 4217 currency, such as EUR")
	errPlural    = errors.New(`requires two words, such as "item", "items"`)
	decimal      = regexp.MustCompile(`^-?[0-9]{1,16}(\.[0-9]{1,20})?$`)
)

// numberFrom returns the number in a value. A missing or blank value has none.
func numberFrom(value any) (n float64, found bool, err error) {
	switch v := value.(type) {
	case nil:
		return 0, false, nil
	case int:
		n = float64(v)
	case int64:
		n = float64(v)
	case float64:
		n = v
	case string:
		text := strings.TrimSpace(v)
		if text == "" {
			return 0, false, nil
		}
		if !decimal.MatchString(text) {
			return 0, false, errNotNumber
		}
		if n, err = strconv.ParseFloat(text, 64); err != nil {
			return 0, false, errNotNumber
		}
	default:
		return 0, false, errNotNumber
	}
	if !(math.Abs(n) < maxNumber) { // also true for NaN
		return 0, false, errNumber
	}
	return n, true, nil
}

// fractionOption returns the option for the number of decimals that an author asks for.
func fractionOption(decimals any) ([]number.Option, error) {
	if decimals == nil {
		return nil, nil
	}
	n, found, err := numberFrom(decimals)
	if err != nil || !found || n < 0 || n > maxFraction || n != math.Trunc(n) {
		return nil, errFraction
	}
	return []number.Option{number.Scale(int(n))}, nil
}

// formatNumber formats a number with the separators of the locale, and with the given number of decimals.
func (l Locale) formatNumber(value, decimals any) (string, error) {
	return l.format(value, decimals, number.Decimal)
}

// formatPercent formats a fraction: 0.25 is 25 %.
func (l Locale) formatPercent(value, decimals any) (string, error) {
	return l.format(value, decimals, number.Percent)
}

func (l Locale) format(value, decimals any, as func(any, ...number.Option) number.Formatter) (string, error) {
	n, found, err := numberFrom(value)
	if err != nil || !found {
		return "", err
	}
	options, err := fractionOption(decimals)
	if err != nil {
		return "", err
	}
	if n == 0 {
		n = 0 // drops the sign of a negative zero
	}
	return message.NewPrinter(l.language()).Sprint(as(n, options...)), nil
}

// formatMoney formats an amount in the major unit of a currency, with the decimals that are usual for it.
func (l Locale) formatMoney(value any, code string) (string, error) {
	unit, err := currency.ParseISO(code)
	if err != nil || len(code) != 3 {
		return "", errCurrency
	}
	n, found, err := numberFrom(value)
	if err != nil || !found {
		return "", err
	}
	p := message.NewPrinter(l.language())
	scale, _ := currency.Standard.Rounding(unit)
	text := func(n float64) string { return p.Sprint(number.Decimal(n, number.Scale(scale))) }
	amount, sign := text(math.Abs(n)), ""
	if n < 0 && amount != text(0) {
		sign = strings.TrimSuffix(p.Sprint(number.Decimal(-1)), p.Sprint(number.Decimal(1)))
	}
	return l.placeSymbol(p.Sprint(currency.Symbol(unit)), sign, amount), nil
}

const noBreakSpace = "\u00a0"

// placeSymbol joins the symbol of a currency with an amount, as CLDR does for the language.
func (l Locale) placeSymbol(symbol, sign, amount string) string {
	language, region := l.region()
	switch {
	case slices.Contains(symbolAfter, language) && !slices.Contains(symbolBefore, language+"-"+region),
		slices.Contains(symbolAfter, language+"-"+region):
		return sign + amount + noBreakSpace + symbol
	case slices.Contains(symbolApart, language), slices.Contains(symbolApart, language+"-"+region):
		if language == "nl" {
			return symbol + noBreakSpace + sign + amount
		}
		return sign + symbol + noBreakSpace + amount
	}
	// CLDR separates letters from digits.
	if last, _ := utf8.DecodeLastRuneInString(symbol); unicode.IsLetter(last) {
		symbol += noBreakSpace
	}
	return sign + symbol + amount
}

// Where languages place the symbol of a currency (CLDR, standard currency format). Other languages write it before
// the amount.
var (
	symbolAfter = []string{"be", "bg", "bs", "ca", "cs", "da", "de", "el", "es", "et", "eu", "fi", "fr", "gl", "he", "hr", "hu",
		"hy", "is", "it", "ka", "kk", "lt", "lv", "mk", "nb", "nn", "no", "pl", "pt-PT", "ro", "ru", "sk", "sl", "sq", "sr", "sv", "uk",
		"vi"}
	symbolBefore = []string{"de-AT", "de-CH", "de-LI", "it-CH", "es-AR", "es-BO", "es-CL", "es-CO", "es-CR", "es-DO", "es-EC",
		"es-GT", "es-HN", "es-MX", "es-NI", "es-PA", "es-PE", "es-PR", "es-PY", "es-SV", "es-US", "es-UY", "es-VE", "es-419"}
	symbolApart = []string{"de-AT", "de-CH", "de-LI", "it-CH", "es-AR", "es-CO", "es-PE", "es-PY", "es-UY", "id", "nl", "pt", "sw"}
)

// pluralCategories are the categories of CLDR plural rules that some languages have in addition to one and other.
var pluralCategories = map[string]plural.Form{"zero": plural.Zero, "two": plural.Two,
	"few": plural.Few, "many": plural.Many}

// pluralize returns the word for a count: of one and other, or of the further categories of the language.
func (l Locale) pluralize(value any, one, other string, further any) (string, error) {
	words, given := further.(map[string]any)
	if other == "" && one == "" || further != nil && !given {
		return "", errPlural
	}
	n, found, err := numberFrom(value)
	if err != nil || !found {
		return other, nil //nolint:nilerr // other is also the word for what is not a number
	}
	form := pluralForm(l, n)
	if form == plural.One {
		return one, nil
	}
	for category, word := range words {
		if text, isText := word.(string); isText && pluralCategories[category] == form && form != plural.Other {
			return text, nil
		}
	}
	return other, nil
}

// pluralForm applies the plural rules of the language.
func pluralForm(l Locale, n float64) plural.Form {
	text := strconv.FormatFloat(math.Abs(n), 'f', -1, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	// The rules only use the last digits of large numbers.
	if fraction = fraction[:min(len(fraction), 6)]; len(whole) > 6 {
		whole = "1" + whole[len(whole)-6:]
	}
	integer, _ := strconv.Atoi(whole)
	decimals, _ := strconv.Atoi(fraction)
	return plural.Cardinal.MatchPlural(l.language(), integer, len(fraction), len(fraction), decimals, decimals)
}

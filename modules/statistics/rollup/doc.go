// Package rollup turns facts about mail into rows of figures: one for each account, UTC day, kind and key,
// with what happened in each quarter of an hour.
//
// A figure is placed twice: where the thing happened, and where its email was handed over. A row has both.
// An email counts for its sender, which is a domain, an API key, a template and an automation, for each of
// its tags and for each domain that it went to. A recipient counts once for each kind of thing: of several
// opens the first one that a program did not make.
package rollup

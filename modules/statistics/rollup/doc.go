// Package rollup turns facts about mail into rows of figures: one row per account, UTC day, kind and key,
// with counts for each quarter of an hour.
//
// Every row has each figure twice: at the time of the result, and at the time its email was handed over. An
// email counts for its sender, which is a domain, an API key, a template and an automation, for each of its
// tags and for each domain of its recipients. A recipient counts once for each kind of result: of several
// opens, only the first one by a human counts. A run of an automation counts for the automation alone, at the
// time of the result and at the time it started.
package rollup

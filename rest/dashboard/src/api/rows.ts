const newline = 0x0a
const quote = 0x22

// rowCounter counts records as their octets come: lines, and of CSV rows without the line of names; a
// quoted cell may hold line breaks.
export function rowCounter(csv: boolean): (part: Uint8Array) => number {
  let lines = 0
  let quoted = false
  return (part) => {
    for (const octet of part) {
      if (csv && octet === quote) quoted = !quoted
      else if (octet === newline && !quoted) lines++
    }
    return csv ? Math.max(0, lines - 1) : lines
  }
}

const newline = 0x0a
const quote = 0x22

// rowCounter returns a function that counts the records in a stream, chunk by chunk. In CSV, the header
// is not counted, and quoted cells may contain line breaks.
export function rowCounter(csv: boolean): (part: Uint8Array) => number {
  let lines = 0
  let quoted = false
  return (chunk) => {
    for (const byte of chunk) {
      if (csv && byte === quote) quoted = !quoted
      else if (byte === newline && !quoted) lines++
    }
    return csv ? Math.max(0, lines - 1) : lines
  }
}

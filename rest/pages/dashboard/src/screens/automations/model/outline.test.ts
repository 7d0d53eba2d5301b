import { describe, expect, it } from 'vitest'
import { outlineOf, type Node } from './outline'

// text writes an outline as lines.
function text(nodes: Node[], end: string, indent = ''): string {
  const lines = nodes.flatMap((n) => [indent + n.key + (n.lost ? ' (no step leads here)' : ''), ...n.ways.map((w) => (w.nodes.length > 0 ? `${indent}  ${w.label}:\n${text(w.nodes, w.end, `${indent}    `)}` : `${indent}  ${w.label}: ${w.end}`))])
  return [...lines, ...(end ? [`${indent}(${end})`] : [])].join('\n')
}

const outline = (steps: Parameters<typeof outlineOf>[0]) => {
  const { nodes, end } = outlineOf(steps)
  return text(nodes, end)
}

describe('outline', () => {
  it('goes on below where all ways meet', () => {
    expect(outline([
      { key: 'paid', type: 'branch', cases: [{ if: 'a', goto: 'one' }, { if: 'b', goto: 'two' }], otherwise: 'end' },
      { key: 'one', type: 'send_email', next: { goto: 'bye' } },
      { key: 'two', type: 'send_email' },
      { key: 'bye', type: 'end' },
    ])).toBe(['paid', '  If a:', '    one', '    (continues below)', '  If b:', '    two', '    (continues below)', '  Otherwise: end', 'bye', '(end)'].join('\n'))
  })

  it('nests ways that do not meet', () => {
    expect(outline([
      { key: 'wait', type: 'wait_for_event', event: 'x', timeout: 'P1D', on_event: { goto: 'thanks' } },
      { key: 'remind', type: 'send_email', next: 'end' },
      { key: 'thanks', type: 'send_email' },
    ])).toBe(['wait', '  When it arrives:', '    thanks', '    (end)', '  On timeout:', '    remind', '    (end)'].join('\n'))
  })

  it('shows the main way of a step whose refusal leads further down', () => {
    expect(outline([{ key: 'mail', type: 'send_email', on_error: { goto: 'call' } }, { key: 'pause', type: 'delay' }, { key: 'call', type: 'webhook' }]))
      .toBe(['mail', '  If it’s rejected: continues at call', 'pause', 'call', '(end)'].join('\n'))
  })

  it('knows what is left out, and shows what no step leads to', () => {
    expect(outline([{ type: 'condition', if: 'a' }, { key: 'x', type: 'end', outcome: 'failed' }, { key: 'lost', type: 'delay' }]))
      .toBe(['condition_1', '  If true: continues below', '  Otherwise: end', 'x', 'lost (no step leads here)', '(end as failed)'].join('\n'))
  })
})

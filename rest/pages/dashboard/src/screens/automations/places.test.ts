import { describe, expect, it } from 'vitest'
import { lineOf, placeOf, placesOf } from './places'

const text = '{\n  "trigger": {"event": "a\\"b"},\n  "steps": [\n    {"type": "x", "cases": [{"if": "1 < 2"}]},\n    {}\n  ]\n}'
const { places } = placesOf(text)
const at = (path: string) => {
  const { from, to } = placeOf(places, path)
  return text.slice(from, to)
}

describe('places', () => {
  it('finds members by the paths of the service', () => {
    expect(at('trigger.event')).toBe('"a\\"b"')
    expect(at('steps[0].cases[0].if')).toBe('"1 < 2"')
    expect(lineOf(text, placeOf(places, 'steps[0].type').from)).toBe(4)
  })

  it('points at what is around something missing', () => {
    expect(placeOf(places, 'steps[1].timeout').from).toBe(text.indexOf('{}'))
    expect(placeOf(places, 'nothing').from).toBe(0)
  })

  it('says where a text is not JSON', () => {
    for (const [wrong, from] of [['{"a": ]', 6], ['{"a": 1', 6], ['{"a": 1} x', 9], ['', 0], ['{"a" 1}', 5], ['{a: 1}', 1]] as const) {
      const { error } = placesOf(wrong)
      expect(error?.message, wrong).toBeTruthy()
      expect(error?.from, wrong).toBe(from)
    }
    expect(placesOf('[1, {"a": -2.5e3}, null]').error).toBeUndefined()
  })
})

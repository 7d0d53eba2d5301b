import { useViewer } from '@/app/viewer'

export type Mode = 'live' | 'test'

const modes = [{ value: 'live', word: 'Live', means: 'Emails are sent.' }, { value: 'test', word: 'Test', means: 'Emails are captured, not sent. Data is separate from live mode.' }] as const

export const modeChoice = { field: 'mode', label: 'Any mode', values: modes.map((m) => ({ value: m.value, name: m.word })) }

// ModeField chooses the mode of a new key or credential. It is hidden if test mode is off.
export function ModeField({ value, onChange }: { value: Mode; onChange: (mode: Mode) => void }) {
  const { has } = useViewer()
  if (!has('testmode')) return null
  return (
    <fieldset className="grid gap-1.5">
      <legend className="mb-1 font-medium">Mode</legend>
      {modes.map((m) => (
        <label key={m.value} className="flex items-start gap-2"><input type="radio" name="mode" className="mt-1 accent-accent-fill" checked={value === m.value} onChange={() => onChange(m.value)} /><span>{m.word}<span className="block text-xs text-ink-3">{m.means}</span></span></label>
      ))}
    </fieldset>
  )
}

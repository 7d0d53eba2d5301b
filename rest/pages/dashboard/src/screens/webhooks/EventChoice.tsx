import { eventGroups, type EventType } from './events'

// EventChoice selects the events that an endpoint receives. None selected means all, including later types.
export function EventChoice({ value, onChange }: { value: EventType[]; onChange: (events: EventType[]) => void }) {
  const chosen = new Set(value)
  const set = (types: EventType[], on: boolean) => onChange(on ? [...new Set([...value, ...types])] : value.filter((t) => !types.includes(t)))
  return (
    <fieldset className="grid gap-2">
      <legend className="mb-1 font-medium">Events</legend>
      <p className="text-xs text-ink-3">{value.length === 0 ? 'If none is selected, the endpoint receives all events, including future ones.' : `${value.length} selected.`}</p>
      <div className="grid max-h-[280px] gap-3 overflow-auto rounded-control border border-line p-3" tabIndex={0} role="group" aria-label="Event types">
        {eventGroups.map((g) => (
          <div key={g.key} className="grid gap-1">
            <label className="flex items-center gap-2 font-medium"><input type="checkbox" className="accent-accent-fill" checked={g.types.every((t) => chosen.has(t))} onChange={(e) => set(g.types, e.target.checked)} />{g.title}</label>
            <div className="grid gap-x-4 gap-y-1 pl-6 sm:grid-cols-2">
              {g.types.map((t) => <label key={t} className="flex min-w-0 items-center gap-2"><input type="checkbox" className="accent-accent-fill" checked={chosen.has(t)} onChange={(e) => set([t], e.target.checked)} /><code className="wrap-anywhere">{t}</code></label>)}
            </div>
          </div>
        ))}
      </div>
    </fieldset>
  )
}

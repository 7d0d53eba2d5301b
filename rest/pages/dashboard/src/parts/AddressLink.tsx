import { Link } from '@tanstack/react-router'
import { useViewer } from '@/app/viewer'

// bareAddress returns the address of `Name <address>`.
export const bareAddress = (text: string) => /<([^<>]+)>\s*$/.exec(text)?.[1] ?? text.trim()

// AddressLink leads to the page of an address, which shows everything about it.
export function AddressLink({ address, children, className = 'link min-w-0 wrap-anywhere' }: { address: string; children?: string; className?: string }) {
  const { can } = useViewer()
  const shown = <bdi>{children ?? address}</bdi>
  if (!can('READ_SENT')) return <span className={className.replace('link ', '')}>{shown}</span>
  return <Link className={className} to={`/addresses/${encodeURIComponent(bareAddress(address))}` as string} title="Everything about this address">{shown}</Link>
}

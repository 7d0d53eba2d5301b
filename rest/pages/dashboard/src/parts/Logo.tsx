// Logo is the post horn.
export function Logo() {
  return (
    <svg aria-hidden viewBox="0 0 16 16" className="size-[18px] fill-none stroke-current stroke-[1.5] [stroke-linecap:round] [stroke-linejoin:round]">
      <circle cx="6" cy="9.5" r="3.5" />
      <path d="M6 6h4.5c1.5 0 2.5-1 3.5-2.5v6.5c-1-1.5-2-2.5-3.5-2.5M6 13H2.5" />
    </svg>
  )
}

import './app/theme.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { returnPath } from './api/door'
import { queries } from './app/queries'
import { router } from './app/router'

const back = returnPath()
if (back && location.pathname === '/') history.replaceState(null, '', back)

const at = document.getElementById('root')
if (at) {
  createRoot(at).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  )
}

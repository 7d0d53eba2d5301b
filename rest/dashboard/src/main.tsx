import './app/theme.css'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { router } from './app/router'
import { rereadViewer } from './app/viewer'

void rereadViewer()

const at = document.getElementById('root')
if (at) createRoot(at).render(<StrictMode><RouterProvider router={router} /></StrictMode>)

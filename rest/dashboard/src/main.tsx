import './app/theme.css'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { returnPath } from './api/door'
import { router } from './app/router'
import { rereadViewer } from './app/viewer'

const back = returnPath()
if (back) history.replaceState(null, '', back)

void rereadViewer()

const at = document.getElementById('root')
if (at) createRoot(at).render(<StrictMode><RouterProvider router={router} /></StrictMode>)

import './app/theme.css'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { router } from './app/router'
import { reloadViewer } from './app/viewer'

void reloadViewer()

const at = document.getElementById('root')
if (at) createRoot(at).render(<StrictMode><RouterProvider router={router} /></StrictMode>)

"""Attackers that know samples: how gaze moves, where it is off, and who is recognised by that.

`signals` cuts gaze into windows of velocities and pupil, `kernels` convolves them, `convolutions`
learns from that whose they are. `offset` finds how far a person's gaze is off, and `evidence` puts
all of it together with features of windows under every protocol.
"""

"""Strategies over many hosts: Anthelion (CIKM 2014), its baselines, and ours."""

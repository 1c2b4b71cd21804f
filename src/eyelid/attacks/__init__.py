"""What tries to recognise people: attackers, membership, attributes, and what is still of use."""
